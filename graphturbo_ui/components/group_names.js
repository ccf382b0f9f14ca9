// Names of sub-graphs as the report gives them, in less room.

/** `attention (layers 4–14)`, `attention 4–14`, then `4–14`; of `stage 1` the name alone. */
export function shorterNames(name) {
  const found = /^(.*) \(layers? ([^)]*)\)(.*)$/.exec(name);
  if (found) return [name, `${found[1]} ${found[2]}${found[3]}`, `${found[2]}${found[3]}`];
  const [, numbers] = /^layers? (\d.*)$/.exec(name) ?? [];
  return numbers ? [name, numbers.replace(" to ", "–")] : [name];
}

/** `attention` of `attention (layers 4–14)`: what several sub-graphs have in common. */
export function titleOf(name) {
  return name.replace(/ \(layers? [^)]*\)/, "");
}
