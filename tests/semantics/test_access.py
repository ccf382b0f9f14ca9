"""Access boxes against ONNX's reference or ONNX Runtime: nothing outside a box matters.

The same models, tile by tile, give what they give whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Box, hull, is_empty, with_interval
from graphturbo_core.semantics.access import AxisKind, InputAccess
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.verify.local import LocalOperand, TileTask, tile_result
from graphturbo_core.verify.single_op import OpRunner, load_runtime
from tests.full import examples
from tests.semantics.models import graph_of, model
from tests.semantics.op_cases.all_cases import ALL_CASES as CASES
from tests.semantics.op_cases.cases import Case

Values = dict[str, np.ndarray]
Evaluator = Callable[[Values], list[np.ndarray]]


@cache
def runner() -> OpRunner:
    """ONNX Runtime on one op, else ONNX's reference."""
    return OpRunner(load_runtime())


@cache
def prepared(case: Case) -> tuple[GraphSemantics, Evaluator]:
    """The case's checked semantics and its evaluator."""
    sem = analyse(graph_of(model(case.text, case.opset)))
    sem.check()
    (op,) = sem.graph.ops

    def evaluate(values: Values) -> list[np.ndarray]:
        known = {name: tensor.value for name, tensor in sem.graph.tensors.items()} | values
        inputs = [known[name] if name else None for name in op.inputs]
        while inputs and inputs[-1] is None:
            inputs.pop()
        found = runner().run(op, inputs, op.attributes)
        return [found[name] for name in sem.graph.outputs]

    return sem, evaluate


def random_values(sem: GraphSemantics, seed: int) -> Values:
    """Positive floats, so that no activation hides a change; indices below 2."""
    generator = np.random.default_rng(seed)
    values = {}
    for name in sem.graph.inputs:
        tensor = sem.graph.tensors[name]
        drawn = generator.uniform(0.5, 1.5, tensor.shape)
        values[name] = drawn.astype(tensor.dtype)
    return values


def slices(box: Box) -> tuple[slice, ...]:
    """Numpy's index for a box."""
    return tuple(slice(lo, hi) for lo, hi in box)


def place(sem: GraphSemantics, index: int) -> int:
    """Where the op has the graph's output: an optional one may be missing."""
    return sem.graph.ops[0].outputs.index(sem.graph.outputs[index])


def needed(sem: GraphSemantics, index: int, box: Box) -> Mapping[str, Box]:
    """The hull of every input's boxes; an input without reads needs nothing."""
    boxes: dict[str, Box] = {}
    for access in sem.by_op[sem.graph.ops[0].name].accesses[place(sem, index)]:
        found = access.box(box)
        boxes[access.tensor] = hull(boxes.get(access.tensor, found), found)
    return boxes


@st.composite
def out_boxes(draw: st.DrawFn, shape: tuple[int, ...]) -> Box:
    """A non-empty box of a tensor of this shape."""
    box = []
    for size in shape:
        lo = draw(st.integers(0, size - 1))
        box.append((lo, draw(st.integers(lo + 1, size))))
    return tuple(box)


def widened(sem: GraphSemantics, index: int, box: Box) -> Box:
    """The box with the axes that may not be cut taken whole."""
    semantics = sem.by_op[sem.graph.ops[0].name]
    shape = semantics.output_shapes[place(sem, index)]
    return tuple(
        (0, shape[axis]) if axis in semantics.uncut_axes else interval
        for axis, interval in enumerate(box)
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@settings(
    max_examples=examples(8),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_only_the_access_box_matters(case: Case, data: st.DataObject) -> None:
    """Other numbers outside the boxes leave the output box as it is; edges inside change it."""
    sem, evaluate = prepared(case)
    index = data.draw(st.integers(0, len(sem.graph.outputs) - 1))
    shape = sem.graph.tensors[sem.graph.outputs[index]].shape
    box = widened(sem, index, data.draw(out_boxes(shape)))
    values, others = random_values(sem, 1), random_values(sem, 2)
    expected = evaluate(values)[index][slices(box)]
    boxes = needed(sem, index, box)
    mixed = {name: other.copy() for name, other in others.items()}
    for name, inner in boxes.items():
        if name in mixed:
            mixed[name][slices(inner)] = values[name][slices(inner)]
    np.testing.assert_allclose(evaluate(mixed)[index][slices(box)], expected, rtol=1e-6)
    if case.is_tight:
        assert_edges_matter(sem, evaluate, (index, box, expected), boxes)


@pytest.mark.parametrize("case", [c for c in CASES if c.is_tiled], ids=lambda case: case.name)
@settings(max_examples=examples(4), deadline=None, derandomize=True)
@given(data=st.data())
def test_a_tile_gives_its_part_of_the_whole(case: Case, data: st.DataObject) -> None:
    """What a tile computes from the boxes that it names, NaN beside them, is the op's own."""
    sem, evaluate = prepared(case)
    (op,) = sem.graph.ops
    index = data.draw(st.integers(0, len(sem.graph.outputs) - 1))
    name = sem.graph.outputs[index]
    box = widened(sem, index, data.draw(out_boxes(sem.graph.tensors[name].shape)))
    values = random_values(sem, 1)
    known = {name: tensor.value for name, tensor in sem.graph.tensors.items()} | values
    task = TileTask(sem.graph, op, sem.by_op[op.name], op.outputs.index(name), box, None)
    operands = [
        LocalOperand(read, b, np.asarray(known[read.tensor][slices(b)])) for read, b in task.reads()
    ]
    found = tile_result(task, operands, runner())
    np.testing.assert_allclose(found, evaluate(values)[index][slices(box)], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_case_is_opaque(case: Case) -> None:
    """An entry that cannot resolve its own case proves nothing."""
    assert not prepared(case)[0].opaque_ops or case.is_opaque


def assert_edges_matter(
    sem: GraphSemantics,
    evaluate: Evaluator,
    wanted: tuple[int, Box, np.ndarray],
    boxes: Mapping[str, Box],
) -> None:
    """Each needed box is no wider than it must be: its outermost slices are read.

    Axes that are read whole say so, and are left out.
    """
    index, box, expected = wanted
    for access in sem.by_op[sem.graph.ops[0].name].accesses[place(sem, index)]:
        name, inner = access.tensor, boxes[access.tensor]
        if is_empty(inner) or name not in sem.graph.inputs:
            continue
        for axis, edge in edges(access, inner):
            values = random_values(sem, 1)
            slab = slices(with_interval(inner, axis, (edge, edge + 1)))
            values[name][slab] *= 2 + random_values(sem, 3)[name][slab]
            changed = evaluate(values)[index][slices(box)]
            assert not np.array_equal(changed, expected), (name, axis, edge)


def edges(access: InputAccess, inner: Box) -> Iterator[tuple[int, int]]:
    """(axis, first or last position) of a needed box, for axes that follow the output."""
    for axis, (lo, hi) in enumerate(inner):
        if access.axes[axis].kind is not AxisKind.WHOLE:
            yield from {(axis, lo), (axis, hi - 1)}
