"""Rules of every run that are our choice and have no option; the register lists them too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AssumedRule:
    """One rule: the decision and its outcome."""

    decides: str
    rule: str


NO_ALTERNATIVE = "our choice: no alternative is built, so its effect is unknown"

ASSUMED_RULES = (
    AssumedRule(
        "an output needed by the next instance and by later ones",
        "resident in LB, and a copy goes to GB",
    ),
    AssumedRule("which core computes which part", "greedy matching instead of an exact one"),
    AssumedRule(
        "a binding handed through a slice, pad or concat",
        "where no core's part moves by more than half of its size",
    ),
    AssumedRule("residency of weights", "closed forms: LB, GB, streamed"),
    AssumedRule(
        "weights of adjacent instances that do not fit GB",
        "as many of their boxes as fit are retained in GB, spread evenly over the fetches",
    ),
    AssumedRule("shards of weights", "at most half of each LB's weight part"),
    AssumedRule(
        "which ops AStitch stitches into a kernel",
        "connected ops between compute-intensive ones; regions of one level packed",
    ),
    AssumedRule(
        "which ops divide an AStitch kernel",
        "the largest reduction first, then expensive broadcast ops, then results",
    ),
    AssumedRule("addresses in LB", "greedy by size, largest first"),
    AssumedRule(
        "order of stages, room for products of computed operands",
        "the layers' order and all of it; :full also evaluates expected begins and half",
    ),
    AssumedRule("addresses", "multiples of 32 bytes"),
    AssumedRule("partial sums", "4 bytes each, in the staging buffer"),
    AssumedRule(
        "an op that runs whole and is larger than an LB",
        "one core's engine; its bytes stream once from GB or DRAM through that LB and back",
    ),
    AssumedRule(
        "streamed tensors",
        "two tile buffers; one where double_buffering of tvm or graphturbo is off",
    ),
    AssumedRule(
        "streamed data of a product whose weights are cut along K",
        "fetched with the full K where that moves fewer bytes",
    ),
    AssumedRule("LB ports", "compute does not use them"),
    AssumedRule(
        "a move's channels",
        "first come, first served; it starts when it is first in all their queues",
    ),
    AssumedRule(
        "cores with equivalent programs, above 64 per cluster or beyond the cap on instructions",
        "one is simulated; shared ports serve all cores, ports of other cores an even part",
    ),
    AssumedRule(
        "remote DRAM shares of idle clusters",
        "limited by the bandwidth of the share that is read, not by the reader's own",
    ),
    AssumedRule(
        "weights that a kernel prefetches for later kernels",
        "fetched after its own; its barrier waits for them",
    ),
    AssumedRule(
        "kernels for other kinds of chips (the paper's 3.6)",
        "absent: its text was not available, and no such chip is modelled",
    ),
    AssumedRule("the batch", "divided over the clusters; rounds of equal size are identical"),
)
