"""Instances -> bound kernels, with bindings handed from kernel to kernel.

Algorithm 4 on instances, as in the vendor's manual: `graphturbo.binding_of=instances`. By default
(our choice) each kernel binds its own loop nests, and only the core numbers follow from the kernel
before it: pieces of another count rarely divide as their reader does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graphturbo_core.products.plan import Binding
from graphturbo_core.semantics.fit import nest_reads
from graphturbo_core.strategies.steps.binding import infer_binding
from graphturbo_core.strategies.steps.instances import InstanceGraph
from graphturbo_core.strategies.steps.kernels import BoundKernel, Target, bind_instances


def bind_all(target: Target, graph: InstanceGraph) -> tuple[BoundKernel, ...]:
    """Apply Algorithm 4 to every instance, each alone or from the outputs backwards."""
    return (
        _Handing(target, graph).run() if target.binder.is_across else bind_instances(target, graph)
    )


@dataclass
class _Handing:
    """`bound`: kernels by instance; `handed`: per instance the bindings wanted by its readers.

    `parked`: per instance the results that two readers bind differently.
    """

    target: Target
    graph: InstanceGraph
    bound: dict[int, BoundKernel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is bound yet."""
        self.nests = [section.nests(self.target.semantics) for section in self.graph.sections]
        count = range(len(self.graph.instances))
        self.handed: list[dict[str, Binding]] = [{} for _ in count]
        self.parked: list[set[str]] = [set() for _ in count]
        self.makers: list[dict[str, list[int]]] = [{} for _ in count]
        for tensor, maker, reader in self.graph.edges():
            self.makers[reader].setdefault(tensor, []).append(maker)

    def run(self) -> tuple[BoundKernel, ...]:
        """Depth first from the last instance backwards; every instance is bound once."""
        stack = list(range(len(self.graph.instances)))
        while stack:
            number = stack.pop()
            if number not in self.bound:
                stack += reversed(list(self._visit(number)))
        return tuple(self._parking(number) for number in range(len(self.graph.instances)))

    def _visit(self, number: int) -> Iterator[int]:
        """Bind an instance and hand inferred bindings to its producers; yields those to visit."""
        target, instance = self.target, self.graph.instances[number]
        nests = self.nests[instance.section]
        binder = replace(target.binder, handed=self.handed[number])
        binding = binder(target.semantics, nests, instance.boxes)
        self.bound[number] = BoundKernel(target, instance, nests, binding)
        on_cores = (nest for nest in reversed(nests) if not nest.is_on_cluster(target.semantics))
        reads = ((nest, t) for nest in on_cores for t in nest_reads(target.semantics, nest))
        for nest, tensor in reads:
            own = binding.bindings[nest.output]
            inferred = infer_binding(target.semantics, nest, own, tensor)
            for maker in self.makers[number].get(tensor, ()):
                self._hand(maker, tensor, inferred)
                yield maker

    def _hand(self, maker: int, tensor: str, inferred: Binding | None) -> None:
        """Take the first reader's binding; a differing one adds the result to `parked`."""
        if inferred is None:
            return
        own = self.bound.get(maker)
        known = own.binding.bindings[tensor] if own else None
        if (known or self.handed[maker].setdefault(tensor, inferred)) != inferred:
            self.parked[maker].add(tensor)

    def _parking(self, number: int) -> BoundKernel:
        """The kernel, with the results that readers bind differently."""
        kernel, parked = self.bound[number], frozenset(self.parked[number])
        return replace(kernel, binding=replace(kernel.binding, parked=parked)) if parked else kernel
