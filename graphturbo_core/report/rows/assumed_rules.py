"""Rules of every run that are our choice and that nothing switches: the register tells them too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AssumedRule:
    """A rule: what it decides, and how."""

    decides: str
    rule: str


NO_ALTERNATIVE = "our choice: no other is built, so no effect is known"

ASSUMED_RULES = (
    AssumedRule(
        "an output needed by the next instance and by later ones",
        "stays in LB, and a copy goes to GB",
    ),
    AssumedRule("which core computes which part", "greedy matching instead of an exact one"),
    AssumedRule(
        "a binding handed through a slice, pad or concat",
        "where no core's part moves by more than half of it",
    ),
    AssumedRule("where weights are held", "closed forms: LB, GB, streamed"),
    AssumedRule(
        "weights of adjacent instances that do not fit GB",
        "boxes of them stay as far as there is room, spread evenly over the fetches",
    ),
    AssumedRule("shards of weights", "at most half of each LB's weight part"),
    AssumedRule(
        "which ops AStitch stitches into a kernel",
        "connected ones between compute-intensive ops; regions of one level packed",
    ),
    AssumedRule(
        "which ops divide an AStitch kernel",
        "the largest reduction first, then dear ops that are broadcast, then results",
    ),
    AssumedRule("addresses in LB", "greedy by size, largest first"),
    AssumedRule(
        "order of stages, room for products of computed operands",
        "as layers are, and all; at :full also as expected, and half: the shortest is taken",
    ),
    AssumedRule("addresses", "multiples of 32 bytes"),
    AssumedRule("partial sums", "4 bytes each, in the staging buffer"),
    AssumedRule(
        "an op that runs whole and is larger than an LB",
        "one core's engine; its bytes stream once through that LB from GB or DRAM and back",
    ),
    AssumedRule(
        "streamed tensors",
        "two tiles take turns; one where double_buffering of tvm or graphturbo is off",
    ),
    AssumedRule(
        "streamed data of a product whose weights are cut along K",
        "fetched with all of K where that moves fewer bytes",
    ),
    AssumedRule("LB ports", "compute does not use them"),
    AssumedRule("a move's channels", "first come, first served; it starts when it heads them all"),
    AssumedRule(
        "cores of like programs, above 64 a cluster or where all are too many to list",
        "simulated once; shared ports serve all of them, other cores' ports their even part",
    ),
    AssumedRule(
        "DRAM that idle clusters lend",
        "limited by the share that is read, not by the reader's own",
    ),
    AssumedRule(
        "weights that a kernel fetches for later ones",
        "behind its own; its barrier waits for them",
    ),
    AssumedRule(
        "kernels for other kinds of chips (the paper's 3.6)",
        "absent: its text was not at hand, and there is no such machine to lower to",
    ),
    AssumedRule("the batch", "divided over the clusters; rounds of a share are alike"),
)
