"""Sections and their splits -> Instances: boxes that each kernel computes and needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, BoxIndex, full_box, part_of, with_interval
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.semantics.nests import LoopNest, loop_nests
from graphturbo_core.semantics.propagate import needed_boxes
from graphturbo_core.semantics.table import GraphSemantics


@dataclass(frozen=True)
class FurtherSplit:
    """A further split axis of a section: its axis in each output, and the number of parts."""

    axis_of: Mapping[str, int]
    parts: int


@dataclass(frozen=True)
class Section:
    """Ops that run as one kernel per piece: layer by layer, with their outputs.

    `axis_of`: the cut axis of each output; empty if uncut. `pieces`: product of the parts of all
    axes. Pieces are numbered row-major, the last axis fastest. Two axes of a result map to two
    different axes of each operand that has both.
    """

    name: str
    layer_ops: tuple[tuple[str, ...], ...]
    outputs: tuple[str, ...]
    axis_of: Mapping[str, int] = field(default_factory=dict)
    pieces: int = 1
    further: tuple[FurtherSplit, ...] = ()

    @property
    def splits(self) -> tuple[FurtherSplit, ...]:
        """All cut axes in order."""
        first = self.pieces // prod(split.parts for split in self.further)
        return (FurtherSplit(self.axis_of, first), *self.further)

    @property
    def middle(self) -> int:
        """The middle piece along every axis; with three or more parts it has halos on all sides."""
        piece = 0
        for split in self.splits:
            piece = piece * split.parts + split.parts // 2
        return piece

    @property
    def ops(self) -> tuple[str, ...]:
        """Its ops in the order of its layers."""
        return tuple(op for ops in self.layer_ops for op in ops)

    def nests(self, sem: GraphSemantics) -> tuple[LoopNest, ...]:
        """Its loop nests, layer by layer."""
        return tuple(
            nest for ops in self.layer_ops for nest in loop_nests(sem, ops, lambda _: False)
        )

    def piece_outputs(self, sem: GraphSemantics, piece: int) -> dict[str, Box]:
        """Output boxes of one piece; disjoint over the pieces, together the whole outputs."""
        places = []
        for split in reversed(self.splits):
            piece, place = divmod(piece, split.parts)
            places.append((split, place))
        return {tensor: _piece_box(sem, tensor, places) for tensor in self.outputs}


@dataclass(frozen=True)
class Instance:
    """One piece of a section: all boxes it computes or reads, and its output boxes."""

    name: str
    section: int
    piece: int
    boxes: Mapping[str, Box]
    outputs: Mapping[str, Box]


@dataclass(frozen=True)
class InstanceGraph:
    """All instances in topological order of sections, then by piece, with their dependences."""

    semantics: GraphSemantics = field(repr=False)
    sections: tuple[Section, ...]
    instances: tuple[Instance, ...]

    @cached_property
    def handed_out(self) -> Mapping[str, tuple[int, ...]]:
        """The instances that output a part of each tensor."""
        found: dict[str, list[int]] = {}
        for number, instance in enumerate(self.instances):
            for tensor in instance.outputs:
                found.setdefault(tensor, []).append(number)
        return {tensor: tuple(numbers) for tensor, numbers in found.items()}

    @cached_property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """Per instance the tensors it reads from other instances or the graph's inputs."""
        graph = self.semantics.graph
        reads = []
        for section in self.sections:
            ops = [graph.op_by_name[name] for name in section.ops]
            own = {tensor for op in ops for tensor in op.outputs}
            names = (tensor for op in ops for tensor in graph.activations_in(op))
            reads.append(tuple(dict.fromkeys(name for name in names if name not in own)))
        return tuple(reads[instance.section] for instance in self.instances)

    @cached_property
    def producers(self) -> tuple[tuple[int, ...], ...]:
        """Per instance, the instances whose output boxes intersect its needs, rising."""
        needed: list[set[int]] = [set() for _ in self.instances]
        for _, producer, reader in self.edges():
            needed[reader].add(producer)
        return tuple(tuple(sorted(numbers)) for numbers in needed)

    def edges(self) -> Iterator[tuple[str, int, int]]:
        """Every tensor that one instance hands to another, with its producer and its reader."""
        return (
            (tensor, producer, reader)
            for tensor, producers in self.readers.items()
            for producer, readers in producers.items()
            for reader in readers
        )

    @cached_property
    def readers(self) -> Mapping[str, Mapping[int, tuple[int, ...]]]:
        """Per tensor and producing instance, the instances that read that part."""
        readers: dict[str, dict[int, list[int]]] = {}
        parts: dict[str, BoxIndex] = {}
        for tensor, makers in self.handed_out.items():
            readers[tensor] = {number: [] for number in makers}
            parts[tensor] = BoxIndex([self.instances[maker].outputs[tensor] for maker in makers])
        inputs = ((number, tensor) for number, read in enumerate(self.inputs) for tensor in read)
        for number, tensor in ((number, tensor) for number, tensor in inputs if tensor in parts):
            for place in parts[tensor].meeting(self.instances[number].boxes[tensor]):
                readers[tensor][self.handed_out[tensor][place]].append(number)
        return {
            tensor: {maker: tuple(numbers) for maker, numbers in found.items()}
            for tensor, found in readers.items()
        }


def instance_graph(sem: GraphSemantics, sections: Sequence[Section]) -> InstanceGraph:
    """Cut every section into its pieces; names count pieces from 1.

    Raises:
        CapacityError: TOO_MANY_PIECES, before any is cut.
    """
    _check_count(sections, DEFAULT_LIMITS.max_kernel_ops)
    instances = tuple(
        cut_piece(sem, section, number, piece)
        for number, section in enumerate(sections)
        for piece in range(section.pieces)
    )
    return InstanceGraph(sem, tuple(sections), instances)


def _check_count(sections: Sequence[Section], limit: int) -> None:
    ops = [section.pieces * len(section.ops) for section in sections]
    if sum(ops) > limit:
        largest = sections[ops.index(max(ops))]
        raise CapacityError(
            "TOO_MANY_PIECES",
            f"the pieces of all groups run {sum(ops)} ops, more than {limit}",
            f"the most in {largest.pieces} pieces of group {largest.name!r}",
            "choose a smaller batch or cluster batch",
        )


def _piece_box(sem: GraphSemantics, tensor: str, places: Sequence[tuple[FurtherSplit, int]]) -> Box:
    """An output's box in the piece that is at these places along the cut axes."""
    box = full_box(sem.graph.tensors[tensor].shape)
    for split, place in places:
        axis = split.axis_of.get(tensor)
        if axis is not None:
            box = with_interval(box, axis, part_of(box[axis], split.parts, place))
    return box


def cut_piece(sem: GraphSemantics, section: Section, number: int, piece: int) -> Instance:
    """One piece with every box that it needs, recomputed halos included."""
    outputs = section.piece_outputs(sem, piece)
    ops = [sem.graph.op_by_name[name] for name in section.ops]
    boxes = needed_boxes(sem, ops, outputs)
    names = {t for op in ops for t in (*op.outputs, *sem.graph.activations_in(op)) if t}
    return Instance(
        f"{section.name}/{piece + 1}",
        number,
        piece,
        {tensor: box for tensor, box in boxes.items() if tensor in names},
        outputs,
    )
