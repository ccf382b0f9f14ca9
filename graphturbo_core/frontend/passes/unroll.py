"""RNN, GRU and LSTM unrolled: one product of the whole sequence, and per step one of the state.

TVM's Relay also unrolls at import (python/tvm/relay/frontend/onnx.py, `unbind` and `lstm_cell`),
with the input's product in each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.cells import (
    GATES,
    STEPS,
    Activation,
    Cell,
    activations_of,
)
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import with_ops
from graphturbo_core.frontend.passes.steps import TimeSteps
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

MAX_STEPS = 1024
"""Most time steps of an op, both directions together: some 20,000 ops, half a minute of a run. Ten
seconds of speech have 1,000 (our choice)."""
MAX_STEPS_OF_MODEL = 4096
"""Most time steps of all recurrent ops of a model: about 80,000 ops."""

_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_BATCH_FIRST = {"X": (1, 0, 2), "Y": (2, 0, 1, 3), "state": (1, 0, 2)}
"""Axis orders between layout 1 and layout 0: [N, T, I] to [T, N, I], [T, D, N, H] to
[N, T, D, H], and [N, D, H] to [D, N, H] and back."""
_STATES = 2


def unroll_recurrent(graph: Graph) -> Graph:
    """Unroll each RNN, GRU and LSTM to products and elementwise ops per time step.

    1. One product of the whole input with W for all steps; per step one of the state with R.
    2. An initial state of zeros is not multiplied. 3. After its end, a shorter sample has an
    unchanged state and zero outputs; one of length 0 also has a zero last state, as in ONNX
    Runtime. 4. An op is not unrolled, with a note, if it has more steps than the caps, an unknown
    activation, or inconsistent shapes.
    """
    parts, notes = Parts(graph), []
    renamed: dict[str, str] = {}
    steps = 0
    for op in graph.ops:
        if op.domain or op.op_type not in GATES:
            parts.ops.append(op)
            continue
        task = _Unrolling.of(op, graph)
        why = _why_whole(task, steps) if task else "its shapes or activations are not ONNX's"
        if task is None or why is not None:
            parts.ops.append(op)
            notes.append(f"{op.op_type} {op.name!r} is not unrolled: {why}")
            continue
        steps += task.steps * task.directions
        renamed |= _write(task, parts)
    if steps == 0:
        return with_ops(graph, graph.ops, notes=notes)
    return with_ops(graph, _renamed(parts, renamed), parts.tensors, notes)


def _renamed(parts: Parts, renamed: dict[str, str]) -> list[Op]:
    """The ops with the result names of the replaced ops."""
    return [
        replace(
            op,
            inputs=tuple(renamed.get(name, name) for name in op.inputs),
            outputs=tuple(renamed.get(name, name) for name in op.outputs),
        )
        for op in parts.ops
    ]


def _why_whole(task: _Unrolling, before: int) -> str | None:
    steps = task.steps * task.directions
    if steps > MAX_STEPS:
        return f"{steps} time steps of its directions are above the limit of {MAX_STEPS}"
    if before + steps > MAX_STEPS_OF_MODEL:
        return f"the model has more than the {MAX_STEPS_OF_MODEL} time steps written out"
    return None


@dataclass(frozen=True)
class _Unrolling:
    """A recurrent op with consistent shapes: sizes and attributes."""

    op: Op
    graph: Graph
    functions: tuple[tuple[Activation, ...], ...]
    steps: int
    samples: int
    directions: int
    hidden: int

    @classmethod
    def of(cls, op: Op, graph: Graph) -> _Unrolling | None:
        """The task; None if a shape violates ONNX's definition, or an activation is unknown."""
        weight, state = (graph.tensors[name].shape for name in op.inputs[1:3])
        data = graph.tensors[op.inputs[0]].shape
        if len(data) != 3 or len(weight) != 3 or len(state) != 3:  # noqa: PLR2004 - axes
            return None
        functions = activations_of(op, weight[0])
        if functions is None:
            return None
        samples, steps = data[:2] if op.attributes.get("layout", 0) else data[1::-1]
        task = cls(op, graph, functions, steps, samples, weight[0], state[2])
        return task if task._is_consistent() else None

    def input(self, name: str) -> str | None:
        """The tensor of an input by its name in ONNX's definition; None if it is missing."""
        place = _INPUTS.index(name)
        return (self.op.inputs[place] or None) if place < len(self.op.inputs) else None

    def output(self, place: int) -> str | None:
        """An output with a reader, or a graph output; else None."""
        name = self.op.outputs[place] if place < len(self.op.outputs) else ""
        is_used = name and (self.graph.consumers[name] or name in self.graph.output_names)
        return name if is_used else None

    @property
    def is_batch_first(self) -> bool:
        """Layout 1: samples before time."""
        return bool(self.op.attributes.get("layout", 0))

    @property
    def resets_late(self) -> bool:
        """Whether a GRU's reset gate is applied after the product with the state."""
        return self.op.op_type == "GRU" and bool(self.op.attributes.get("linear_before_reset", 0))

    def is_reverse(self, direction: int) -> bool:
        """Whether a direction runs from the last step to the first."""
        name = self.op.attributes.get("direction", "forward")
        return direction == 1 or name in ("reverse", b"reverse")

    def _is_consistent(self) -> bool:
        gates, hidden, directions = GATES[self.op.op_type], self.hidden, self.directions
        data = self.graph.tensors[self.op.inputs[0]].shape
        states = (directions, self.samples, hidden)
        states = (states[1], states[0], states[2]) if self.is_batch_first else states
        expected = {
            "W": (directions, gates * hidden, data[2]),
            "R": (directions, gates * hidden, hidden),
            "B": (directions, 2 * gates * hidden),
            "sequence_lens": (self.samples,),
            "initial_h": states,
            "initial_c": states,
            "P": (directions, 3 * hidden),
        }
        given = {name: self.input(name) for name in expected}
        direction = self.op.attributes.get("direction", "forward")
        is_two = direction in ("bidirectional", b"bidirectional")
        return (
            self.steps > 0
            and directions == (2 if is_two else 1)
            and self.op.attributes.get("hidden_size", hidden) == hidden
            and all(
                name is None or self.graph.tensors[name].shape == expected[key]
                for key, name in given.items()
            )
        )


def _write(task: _Unrolling, parts: Parts) -> dict[str, str]:
    """Add the ops of a task; returns new result names, with the op's own names."""
    steps = TimeSteps(parts, task.op)
    data = task.op.inputs[0]
    if task.is_batch_first:
        data = steps.transposed("data by step", data, _BATCH_FIRST["X"])
    masks = _masks(task, steps)
    found = [_direction(task, steps, (data, masks), d) for d in range(task.directions)]
    renamed = {}
    names = ("all states", "last state", "last cell")
    for place, whole in enumerate(names):
        given = task.output(place)
        if given is None:
            continue
        steps.where = ""
        ways = [way[place] for way in found]
        joined = _joined(steps, whole, ways, axis=1 if place == 0 else 0)
        if task.is_batch_first:
            joined = steps.transposed(
                f"{whole} by sample", joined, _BATCH_FIRST["state" if place else "Y"]
            )
        renamed[joined] = given
    return renamed


def _joined(steps: TimeSteps, part: str, names: list[str], axis: int) -> str:
    if len(names) == 1:
        return names[0]
    shape = list(steps.shape(names[0]))
    shape[axis] = sum(steps.shape(name)[axis] for name in names)
    return steps.add(part, "Concat", names, shape, {"axis": axis})


def _masks(task: _Unrolling, steps: TimeSteps) -> str | None:
    """Mask [T, N, 1]: whether a step is within a sample; None if all steps are.

    Lengths known to be the whole sequence need no mask.
    """
    lengths = task.input("sequence_lens")
    if lengths is None:
        return None
    tensor = task.graph.tensors[lengths]
    if tensor.value is not None and bool((tensor.value >= task.steps).all()):
        return None
    column = steps.add("lengths", "Unsqueeze", (lengths,), (1, task.samples, 1), {"axes": (0, 2)})
    value = read_only(np.arange(task.steps, dtype=tensor.dtype).reshape(-1, 1, 1))
    numbers = Tensor(
        f"{task.op.name}/step numbers", value.shape, tensor.dtype, TensorKind.WEIGHT, value
    )
    output = steps.parts.between(task.op, "within", (task.steps, task.samples, 1), "bool")
    operands = (steps.parts.weight(numbers), column)
    return steps.parts.add(task.op, ("within", "Less", 13), operands, output)


def _direction(
    task: _Unrolling, steps: TimeSteps, known: tuple[str, str | None], direction: int
) -> tuple[str, ...]:
    """Results of one direction: [T, 1, N, H] and the last states [1, N, H]."""
    way = "reverse" if task.is_reverse(direction) else "forward"
    steps.where = f"{way}/"
    data, masks = known
    gates = _gates(task, steps, data, direction)
    cell = _cell(task, steps, direction)
    states = tuple(
        _first_state(task, steps, name, direction)
        for name in ("initial_h", "initial_c")[: _STATES if task.op.op_type == "LSTM" else 1]
    )
    order = range(task.steps)
    results = {}
    for step in reversed(order) if way == "reverse" else order:
        steps.where = f"{way}/{step}/"
        now = steps.cut("data", gates, 0, (step, step + 1))
        after = STEPS[task.op.op_type](cell, now, states)
        result = after[0]
        if masks is not None:
            mask = steps.cut("within", masks, 0, (step, step + 1))
            result = _chosen(steps, "result", mask, (after[0], None))
            held = states if step else (None,) * len(states)
            after = tuple(
                _chosen(steps, f"{name} handed on", mask, pair)
                for name, pair in zip(
                    ("state", "cell"), zip(after, held, strict=True), strict=False
                )
            )
        assert result is not None  # a step gives a state
        results[step], states = result, after
    steps.where = f"{way}/"
    if task.output(0) is None:
        return ("", *(state or "" for state in states))
    stacked = _joined(steps, "states", [results[step] for step in order], axis=0)
    shape = (task.steps, 1, task.samples, task.hidden)
    whole = steps.add("all states", "Unsqueeze", (stacked,), shape, {"axes": (1,)})
    return (whole, *(state or "" for state in states))


def _chosen(steps: TimeSteps, part: str, mask: str, pair: tuple[str | None, str | None]) -> str:
    """Select the first if the mask is true, else the second; None represents zeros."""
    new, old = pair
    assert new is not None  # a step gives states
    operands = (mask, new, old or steps.number(0.0))
    return steps.add(part, "Where", operands, steps.shape(new))


def _first_state(task: _Unrolling, steps: TimeSteps, name: str, direction: int) -> str | None:
    state = task.input(name)
    if state is None:
        return None
    if task.is_batch_first:
        where, steps.where = steps.where, ""
        state = steps.transposed(f"{name} by direction", state, _BATCH_FIRST["state"])
        steps.where = where
    return steps.cut(name, state, 0, (direction, direction + 1))


def _weight(
    task: _Unrolling,
    steps: TimeSteps,
    name: str,
    direction: int,
    span: tuple[int, int] | None = None,
) -> str:
    """A direction's rows of W, R, B or P, all or some; matrices are transposed."""
    given = task.input(name)
    assert given is not None  # the caller checked it
    part = steps.cut(name, given, 0, (direction, direction + 1))
    part = steps.cut(f"{name} rows", part, 1, span or (0, steps.shape(part)[1]))
    part = steps.without_first(f"{name} rows", part)
    return steps.transposed(name, part, (1, 0)) if len(steps.shape(part)) > 1 else part


def _gates(task: _Unrolling, steps: TimeSteps, data: str, direction: int) -> str:
    """[T, N, G H]: the input's part of all gates of all steps, with the added biases.

    The state's bias is excluded if a reset gate scales it.
    """
    gates = steps.product("input product", data, _weight(task, steps, "W", direction))
    width = GATES[task.op.op_type] * task.hidden
    if task.input("B") is not None:
        bias = _weight(task, steps, "B", direction, (0, width))
        gates = steps.plus("input bias", gates, bias)
        if not task.resets_late:
            bias = _weight(task, steps, "B", direction, (width, 2 * width))
            gates = steps.plus("state bias", gates, bias)
    assert gates is not None  # the product is there
    return gates


def _cell(task: _Unrolling, steps: TimeSteps, direction: int) -> Cell:
    """The parameters of one step of a direction."""
    hidden, kind = task.hidden, task.op.op_type
    width = GATES[kind] * hidden
    spans = [(0, width)]
    if kind == "GRU" and not task.resets_late:
        spans = [(0, 2 * hidden), (2 * hidden, width)]
    bias = None
    if task.resets_late and task.input("B") is not None:
        bias = _weight(task, steps, "B", direction, (width, 2 * width))
    has_peepholes = kind == "LSTM" and task.input("P") is not None
    peepholes = [
        _weight(task, steps, "P", direction, (k * hidden, (k + 1) * hidden))
        for k in range(3 if has_peepholes else 0)
    ]
    clip = task.op.attributes.get("clip")
    return Cell(
        steps,
        hidden,
        task.functions[direction],
        tuple(_weight(task, steps, "R", direction, span) for span in spans),
        bias,
        tuple(peepholes),
        clip if isinstance(clip, float) else None,
        bool(task.op.attributes.get("input_forget", 0)),
    )
