"""An op with its shapes, attributes with defaults, and parameters known at import."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.ir.graph import Graph, Op


@dataclass(frozen=True, slots=True)
class OpView:
    """View of an op for the entries of the table."""

    op: Op
    graph: Graph

    def has_input(self, index: int) -> bool:
        """Whether input `index` is present: optional ones may be missing or empty."""
        return index < len(self.op.inputs) and bool(self.op.inputs[index])

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Shape of input `index`."""
        return self.graph.tensors[self.op.inputs[index]].shape

    def shape_out(self, index: int = 0) -> tuple[int, ...]:
        """Shape of output `index`; () for a missing optional one."""
        name = self.op.outputs[index]
        return self.graph.tensors[name].shape if name else ()

    @property
    def shapes_out(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of all outputs."""
        return tuple(self.shape_out(index) for index in range(len(self.op.outputs)))

    @property
    def extra_outputs(self) -> int:
        """Number of used outputs after the first."""
        return sum(map(self._is_used, self.op.outputs[1:]))

    @property
    def main_output(self) -> int:
        """The first output with a reader, else the first with a name."""
        named = [index for index, name in enumerate(self.op.outputs) if name]
        return next((i for i in named if self._is_used(self.op.outputs[i])), named[0])

    def _is_used(self, name: str) -> bool:
        return bool(name) and (bool(self.graph.consumers[name]) or name in self.graph.output_names)

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        value = self.op.attributes.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.op.attributes.get(name, default)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return value if isinstance(value, str) else default

    def integers(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of integers; None if missing."""
        value = self.op.attributes.get(name)
        if not isinstance(value, tuple):
            return None
        return tuple(int(item) for item in value)

    def numbers(self, index: int) -> tuple[float, ...] | None:
        """The numbers of input `index`; None if not known at import."""
        if not self.has_input(index):
            return None
        value = self.graph.tensors[self.op.inputs[index]].value
        return None if value is None else tuple(float(item) for item in value.ravel())

    def parameter(self, name: str, index: int) -> tuple[int, ...] | None:
        """Integers that older opsets give as attribute `name`, newer ones as input `index`."""
        given = self.integers(name)
        if given is not None or not self.has_input(index):
            return given
        value = self.graph.tensors[self.op.inputs[index]].value
        return None if value is None else tuple(int(item) for item in value.ravel())

    def is_unknown(self, index: int) -> bool:
        """Whether input `index` is present but its numbers are not known at import."""
        return self.has_input(index) and self.graph.tensors[self.op.inputs[index]].value is None
