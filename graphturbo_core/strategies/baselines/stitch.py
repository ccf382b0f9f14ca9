"""GraphSemantics -> StitchedKernels: the ops of each AStitch kernel, and the kernels' order.

After the reference page on fusion (AStitch, ASPLOS 2022). Compute-intensive ops are boundaries, and
connected ops between them are one kernel: recalled from the paper and unchecked. The procedure is
our choice.

1. An op is *compute-intensive* if it counts matrix products (convolution, product, attention,
   recurrent cell), or has no entry in the table of op types, which models a library call. It is a
   kernel of its own without epilogue. All others are *memory-intensive*: elementwise ops,
   reductions, normalisations (XLA, under AStitch, has them as elementwise ops and reductions),
   lookups, ops that only move elements, and ops with several results. A pooling is one too: Relay
   classes it with convolutions because it takes an epilogue. But it reduces windows without
   products, and the reference names products and library calls alone.
2. The *level* of an op is the largest number of compute-intensive ops on a path to it.
   Memory-intensive ops of one level that are connected are a region.
3. A region whose first reader in the order of levels is itself a region joins it, at its level.
   So values that only later layers need (a mask, a table's rows) are stitched to their reader. No
   path between the two leads through another kernel: it would begin with an earlier reader.
4. Regions of one level are independent: they are packed into one kernel.
5. No kernel has more than `MAX_STITCHED_OPS` ops; larger regions are cut in the graph's order.

Levels rise through compute-intensive ops alone, so kernels in the order of levels, a level's
regions before its compute-intensive ops, are acyclic. Linear in ops and their reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphturbo_core.semantics.access import OpSemantics
from graphturbo_core.semantics.table import GraphSemantics

MAX_STITCHED_OPS = 256
"""Most ops of a kernel: TVM's limit of fusion (our choice: AStitch's own limit is not known)."""


@dataclass(frozen=True, slots=True)
class StitchedKernel:
    """Ops of one kernel by region, in the graph's order; a boundary is one compute-intensive op."""

    regions: tuple[tuple[str, ...], ...]
    is_boundary: bool

    @property
    def ops(self) -> tuple[str, ...]:
        """All ops, region by region."""
        return tuple(op for region in self.regions for op in region)


def stitched_kernels(sem: GraphSemantics) -> tuple[StitchedKernel, ...]:
    """Returns kernels in a legal order; each op is in one kernel."""
    partition = _Partition(sem)
    partition.join_levels()
    partition.sink()
    return tuple(partition.kernels())


def is_compute_intensive(semantics: OpSemantics) -> bool:
    """Rule 1."""
    return bool(semantics.contraction or semantics.products or semantics.is_opaque)


class _Partition:
    """Regions as a union-find over op indices; the root's level is the region's."""

    def __init__(self, sem: GraphSemantics) -> None:
        graph = sem.graph
        self.names = [op.name for op in graph.ops]
        place = {name: index for index, name in enumerate(self.names)}
        self.is_boundary = [is_compute_intensive(sem.by_op[name]) for name in self.names]
        self.readers: list[list[int]] = [[] for _ in self.names]
        self.level = [0] * len(self.names)
        self.parent = list(range(len(self.names)))
        for reader, op in enumerate(graph.ops):
            makers = (graph.producer.get(name) for name in graph.activations_in(op))
            for maker in sorted({place[made.name] for made in makers if made is not None}):
                self.readers[maker].append(reader)
                passed = self.level[maker] + self.is_boundary[maker]
                self.level[reader] = max(self.level[reader], passed)

    def root(self, op: int) -> int:
        """The representative op of a region."""
        root = op
        while self.parent[root] != root:
            root = self.parent[root]
        while self.parent[op] != root:
            self.parent[op], op = root, self.parent[op]
        return root

    def join_levels(self) -> None:
        """Rule 2."""
        makers = enumerate(self.readers)
        for maker, reader in ((maker, reader) for maker, readers in makers for reader in readers):
            is_stitched = not (self.is_boundary[maker] or self.is_boundary[reader])
            if is_stitched and self.level[maker] == self.level[reader]:
                self.parent[self.root(reader)] = self.root(maker)

    def sink(self) -> None:
        """Rule 3, the last levels first, so that the joined region does not move later."""
        regions = self._regions()
        for own in sorted(regions, key=lambda root: (-self.level[root], root)):
            readers = {self.root(r) for op in regions[own] for r in self.readers[op]} - {own}
            first = min(map(self._rank, readers), default=None)
            if first is None or first[1]:
                continue
            for reader in (reader for reader in sorted(readers) if self._rank(reader) == first):
                self.parent[self.root(own)] = reader

    def _rank(self, root: int) -> tuple[int, bool]:
        """Sort key of a region or a compute-intensive op in the order of kernels."""
        return self.level[root], self.is_boundary[root]

    def _regions(self) -> dict[int, list[int]]:
        """Memory-intensive ops by root, in the graph's order."""
        found: dict[int, list[int]] = {}
        for op, is_boundary in enumerate(self.is_boundary):
            if not is_boundary:
                found.setdefault(self.root(op), []).append(op)
        return found

    def kernels(self) -> Iterator[StitchedKernel]:
        """Rules 4 and 5: per level the packed regions, then the compute-intensive ops."""
        by_rank: dict[tuple[int, bool], list[list[int]]] = {}
        for root, ops in self._regions().items():
            by_rank.setdefault(self._rank(root), []).append(ops)
        for op, is_boundary in enumerate(self.is_boundary):
            if is_boundary:
                by_rank.setdefault(self._rank(op), []).append([op])
        for rank in sorted(by_rank):
            is_boundary = rank[1]
            packs = ([part] for part in by_rank[rank]) if is_boundary else _packs(by_rank[rank])
            for pack in packs:
                named = tuple(tuple(self.names[op] for op in region) for region in pack)
                yield StitchedKernel(named, is_boundary)


def _packs(regions: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    """Regions of a level in order, as many per pack as the limit allows."""
    pack: list[Sequence[int]] = []
    count = 0
    parts = (
        region[begin : begin + MAX_STITCHED_OPS]
        for region in regions
        for begin in range(0, len(region), MAX_STITCHED_OPS)
    )
    for part in parts:
        if count + len(part) > MAX_STITCHED_OPS:
            yield pack
            pack, count = [], 0
        pack.append(part)
        count += len(part)
    yield pack
