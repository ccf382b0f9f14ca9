"""Plan of stitched kernels -> Decisions: each region, and the scheme of its inner values.

The four schemes of AStitch (reference page on fusion, point 2, recalled from the paper), mapped to
this machine (our choice):

- *independent*: regions packed into one kernel;
- *local*: the value is in the vector pipe between ops of one loop nest;
- *regional*: every core needs only its own part, which is in its LB;
- *global*: a core needs another core's part; it goes through GB (DRAM on a chip without GB).

Conflicts and layers impose the order of AStitch's barrier over all blocks; it costs no cycles of
its own. A kernel's result is also resident in LB if the kernel reads it. A part that another core
needs goes from core to core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphturbo_core.products.plan import Decision, KernelPlan, Plan
from graphturbo_core.semantics.fit import nest_outputs, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.baselines.stitch import StitchedKernel
from graphturbo_core.strategies.baselines.stitch_binding import (
    dominants,
    is_broadcast,
    is_combining,
    reads_own,
)
from graphturbo_core.strategies.constraints import binding_text
from graphturbo_core.strategies.steps.instances import Section

STITCH_STEP, PACK_STEP, SCHEME_STEP = "stitch", "pack", "scheme"
STITCH_STEPS = frozenset({STITCH_STEP, PACK_STEP, SCHEME_STEP})
"""Steps of these decisions; the first subject of the first two is their group."""

RULE_BOUNDARY = "compute-intensive: a kernel of its own, without epilogue"
RULE_REGION = "memory-intensive ops connected between compute-intensive ones"
RULE_INDEPENDENT = "independent: regions without dependences between them"
RULE_LOCAL = "local: elementwise, values in the vector pipe"
RULE_ONE_TO_MANY = "regional: one to many, of each core's own part"
RULE_OUT_OF_NEST = "regional: elementwise of each core's own part, in another loop nest"
RULE_GLOBAL = "global: a core reads what another one computed"


def stitch_decisions(
    plan: Plan, kernels: Sequence[StitchedKernel], sections: Sequence[Section]
) -> tuple[Decision, ...]:
    """Returns per kernel its regions, then the schemes of its inner values; linear in ops."""
    found: list[Decision] = []
    for stitched, section, kernel in zip(kernels, sections, plan.kernels, strict=True):
        if stitched.is_boundary:
            subject = (section.name, *stitched.ops)
            found.append(Decision(STITCH_STEP, RULE_BOUNDARY, subject, False, {}))
            continue
        nests = section.nests(plan.semantics)
        found += _regions(plan.semantics, stitched, kernel, (section.name, nests))
        if len(stitched.regions) > 1:
            subject = (section.name, *(region[0] for region in stitched.regions))
            numbers = {"regions": len(stitched.regions)}
            found.append(Decision(PACK_STEP, RULE_INDEPENDENT, subject, True, numbers))
        found += _schemes(plan.semantics, nests, kernel)
    return tuple(found)


def _regions(
    sem: GraphSemantics,
    stitched: StitchedKernel,
    kernel: KernelPlan,
    place: tuple[str, Sequence[LoopNest]],
) -> Iterator[Decision]:
    """Each region with the dominant op whose division the others follow."""
    name, nests = place
    region_of = {op: number for number, ops in enumerate(stitched.regions) for op in ops}
    first: dict[int, tuple[str, LoopNest]] = {}
    for dominant in dominants(sem, nests):
        nest = nests[dominant.place]
        word = dominant.dominance.name.lower()
        first.setdefault(region_of[nest.ops[0]], (word, nest))
    for number, ops in enumerate(stitched.regions):
        word, nest = first[number]
        numbers: dict[str, int | float | str] = {
            "ops": len(ops),
            "dominant": nest.ops[-1],
            "as": word,
            "division": binding_text(kernel.bindings[nest.output]),
        }
        yield Decision(STITCH_STEP, RULE_REGION, (name, *ops), True, numbers)


def _schemes(
    sem: GraphSemantics, nests: Sequence[LoopNest], kernel: KernelPlan
) -> Iterator[Decision]:
    """One decision per loop nest of several ops, and one per tensor that a later nest reads."""
    readers: dict[str, list[LoopNest]] = {}
    for nest in nests:
        for tensor in nest_reads(sem, nest):
            readers.setdefault(tensor, []).append(nest)
    for nest in nests:
        if len(nest.ops) > 1:
            numbers = {"values": len(nest.ops) - 1}
            yield Decision(SCHEME_STEP, RULE_LOCAL, nest.ops, True, numbers)
        handed_on = (t for t in nest_outputs(sem, nest) if t in readers and t in kernel.bindings)
        yield from (_scheme(sem, tensor, readers[tensor], kernel) for tensor in handed_on)


def _scheme(
    sem: GraphSemantics, tensor: str, readers: Sequence[LoopNest], kernel: KernelPlan
) -> Decision:
    bound = kernel.bindings, kernel.boxes
    if not all(reads_own(sem, nest, tensor, bound) for nest in readers):
        rule = RULE_GLOBAL
    elif any(_is_one_to_many(sem, tensor, nest) for nest in readers):
        rule = RULE_ONE_TO_MANY
    else:
        rule = RULE_OUT_OF_NEST
    scope = kernel.scopes[tensor].value
    numbers: dict[str, int | float | str] = {
        "held in": f"LB and {scope}" if tensor in kernel.outputs else scope,
        "loop nests that read it": len(readers),
    }
    return Decision(SCHEME_STEP, rule, (tensor,), True, numbers)


def _is_one_to_many(sem: GraphSemantics, tensor: str, nest: LoopNest) -> bool:
    ops = [op for op in nest.ops if tensor in sem.graph.op_by_name[op].inputs]
    return any(is_combining(sem, op) or is_broadcast(sem, tensor, op) for op in ops)
