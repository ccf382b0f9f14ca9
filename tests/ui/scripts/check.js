// What the tests of scripts are written with: a name per test, a throw per fault. No page.

/** [name, fault] of every test, in order; the fault of a test that passes is empty. */
export function outcomes(tests) {
  return Object.entries(tests).map(([name, test]) => {
    try {
      test();
      return [name, ""];
    } catch (error) {
      return [name, String(error.message ?? error)];
    }
  });
}

/** Equal as JSON. */
export function equal(found, expected) {
  const [one, other] = [found, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`${one} is not ${other}`);
}

/** Numbers, or arrays of them, that differ by `most` at the most. */
export function near(found, expected, most = 1e-9) {
  const [one, other] = [found, expected].map((value) => (typeof value === "number" ? [value] : [...value]));
  const isNear = one.length === other.length && one.every((value, at) => Math.abs(value - other[at]) <= most);
  if (!isNear) throw new Error(`${JSON.stringify(one)} is not near ${JSON.stringify(other)}`);
}

/** Holds. */
export function holds(is, said) {
  if (!is) throw new Error(said);
}

/** Numbers 0 to 1, the same ones at each start: a seed of its own per test. */
export function drawn(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
