// Why two parts were merged or not, in words of the numbers that decided.

/** `8 + 4`: pieces of the parts; a dash where no cut of a part fits. */
export function countsText({ counts }) {
  return counts.map((count) => count || "–").join(" + ");
}

/** A sentence for a decision; `capacity`: the size that a piece may have, as text. */
export function reasonText(step, capacity) {
  const { cause, counts, pieces } = step;
  const most = Math.max(0, ...counts);
  const least = Math.min(...(counts.length ? counts : [0]));
  const sentences = {
    block: "The inside of a block and its join: merged wherever the whole can be split.",
    pieces: "No part with weights gets more pieces than it has: no weight is fetched more often.",
    refetch: least
      ? `All parts would be cut into ${most}. A part with fewer pieces has weights: each piece would fetch them again.`
      : `A part that no cut fits would be cut into ${most} with the others. Each piece would fetch its weights again.`,
    grows: pieces > most ? `Together they need ${pieces} pieces, none needs more than ${most}: weights would be fetched more often.` : "The counts of the parts differ.",
    split: step.is_taken
      ? "The whole can be split so that a piece fits."
      : `No axis goes through all of it with a piece that fits ${capacity}.`,
    cycle: "A path leads out of the parts and back: the kernels would wait for each other.",
    taken: "A part of this block was merged into another block before.",
    user: step.is_taken ? "A plan file demands it." : "A plan file forbids it.",
  };
  return sentences[cause] ?? step.rule;
}

/** The same in a few words, for the picture. */
export function shortReason(step) {
  const counts = countsText(step);
  const words = {
    refetch: "weights would be fetched again", grows: step.pieces ? `would need ${step.pieces}` : "counts differ",
    split: "no split fits", cycle: "a path goes round", taken: "in another block", user: "the plan file says so",
  };
  return [counts && `pieces ${counts}`, words[step.cause]].filter(Boolean).join(": ");
}

/** What a step of the algorithm looks at. */
export function stepText(name) {
  return {
    block: "block: fork to join", straight: "straight: one producer, one reader", diamond: "diamond: fork and join",
    branch: "branch: siblings", plan: "plan file",
  }[name] ?? name;
}
