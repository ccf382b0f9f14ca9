"""Every way a box of an op is run, worked by hand: copied, slid, as it is, embedded; cuts of K."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.boxes import Box, Interval
from graphturbo_core.ir.graph import AttributeValue, Op
from graphturbo_core.semantics.table import analyse
from graphturbo_core.verify.local import LocalOperand, TileTask, poisoned, slices, tile_result
from graphturbo_core.verify.single_op import Array, Arrays, OpRunner, load_runtime
from tests.models import graph_of


@dataclass
class Spy(OpRunner):
    """Notes the shapes and attributes of every op that is run."""

    seen: list[tuple[list[tuple[int, ...] | None], Mapping[str, AttributeValue]]] = field(
        default_factory=list
    )

    def run(
        self, op: Op, inputs: Arrays, attributes: Mapping[str, AttributeValue]
    ) -> dict[str, Array]:
        self.seen.append(([None if i is None else i.shape for i in inputs], attributes))
        return super().run(op, inputs, attributes)


@pytest.fixture
def runner() -> Spy:
    return Spy(load_runtime())


def task_of(text: str, box: Box, cut: Interval | None = None, index: int = 0) -> TileTask:
    graph = graph_of(text)
    (op,) = graph.ops
    return TileTask(graph, op, analyse(graph).by_op[op.name], index, box, cut)


def run(task: TileTask, runner: OpRunner, **values: object) -> list[float]:
    """The tile's numbers, from whole tensors of which it gets the boxes that it reads."""
    whole = {
        **{name: t.value for name, t in task.graph.tensors.items() if t.value is not None},
        **{name: np.asarray(numbers, np.float32) for name, numbers in values.items()},
    }
    operands = [LocalOperand(a, box, whole[a.tensor][slices(box)]) for a, box in task.reads()]
    return tile_result(task, operands, runner).ravel().tolist()


CONCAT = "g (float[1,2] a, float[1,3] b) => (float[1,5] y) { y = Concat <axis=1> (a, b) }"


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [((1, 4), [2, 3, 4]), ((0, 2), [1, 2]), ((3, 5), [4, 5])],
)
def test_parts_side_by_side_are_joined(columns: Interval, wanted: list[float], runner: Spy) -> None:
    """[1 2 | 3 4 5]: a part that is not needed is not read."""
    task = task_of(CONCAT, ((0, 1), columns))
    assert run(task, runner, a=[[1, 2]], b=[[3, 4, 5]]) == wanted
    assert len(task.reads()) == 1 + (columns == (1, 4))
    assert runner.seen == []


def test_elements_are_named_anew(runner: Spy) -> None:
    """Rows 1 and 2 of the second output are rows 2 and 3 of the input."""
    text = (
        "g (float[4,2] x) => (float[3,2] z) <int64[2] s = {1, 3}> { y, z = Split <axis=0> (x, s) }"
    )
    task = task_of(text, ((1, 3), (0, 2)), index=1)
    assert run(task, runner, x=[[0, 1], [2, 3], [4, 5], [6, 7]]) == [4, 5, 6, 7]
    assert runner.seen == []


def test_one_operand_is_repeated(runner: Spy) -> None:
    """A column of two, of which the second row is asked for three times."""
    text = "g (float[2,1] x) => (float[2,4] y) <int64[2] s = {2, 4}> { y = Expand(x, s) }"
    assert run(task_of(text, ((1, 2), (0, 3))), runner, x=[[5], [7]]) == [7, 7, 7]
    assert runner.seen == []


CONV = (
    "g (float[1,1,4] x) => (float[1,1,4] y) <float[1,1,3] w = {1, 10, 100}>"
    " { y = Conv <pads=[1,1]> (x, w) }"
)


@pytest.mark.parametrize(
    ("rows", "pads", "wanted"),
    [
        ((0, 2), (1, 0), [210, 321]),
        ((1, 3), (0, 0), [321, 432]),
        ((2, 4), (0, 1), [432, 43]),
        ((0, 4), (1, 1), [210, 321, 432, 43]),
    ],
)
def test_windows_slide_with_the_pads_of_their_box(
    rows: Interval, pads: tuple[int, int], wanted: list[float], runner: Spy
) -> None:
    """x = 1 2 3 4, so y[i] = x[i-1] + 10 x[i] + 100 x[i+1]: 210, 321, 432, 43."""
    task = task_of(CONV, ((0, 1), (0, 1), rows))
    assert run(task, runner, x=[[[1, 2, 3, 4]]]) == wanted
    ((shapes, attributes),) = runner.seen
    assert attributes["pads"] == pads
    assert shapes[0] == (1, 1, rows[1] - rows[0] + 2 - sum(pads))


GROUPED = (
    "g (float[1,4,1] x) => (float[1,4,1] y) <float[4,2,1] w = {1, 2, 3, 4, 5, 6, 7, 8}>"
    " { y = Conv <group=2> (x, w) }"
)


@pytest.mark.parametrize(
    ("channels", "group", "wanted"),
    [
        ((0, 2), 1, [1 * 1 + 2 * 10, 3 * 1 + 4 * 10]),
        ((3, 4), 1, [7 * 100 + 8 * 1000]),
        ((0, 4), 2, [21, 43, 5 * 100 + 6 * 1000, 8700]),
        ((1, 3), None, [43, 6500]),
        ((1, 4), None, [43, 6500, 8700]),
    ],
)
def test_a_box_has_the_groups_that_it_meets(
    channels: Interval, group: int | None, wanted: list[float], runner: Spy
) -> None:
    """Two groups of two channels: x = 1, 10 | 100, 1000; cut through both, the op runs whole."""
    task = task_of(GROUPED, ((0, 1), channels, (0, 1)))
    assert run(task, runner, x=[[[1], [10], [100], [1000]]]) == wanted
    ((shapes, attributes),) = runner.seen
    assert attributes["group"] == (group or 2)
    assert shapes[0] == (1, 2 if group == 1 else 4, 1)


def test_what_does_not_depend_on_its_place_runs_as_it_is(runner: Spy) -> None:
    """Row 1 of a transposed tensor is its column 1."""
    text = "g (float[2,3] x) => (float[3,2] y) { y = Transpose <perm=[1,0]> (x) }"
    assert run(task_of(text, ((1, 2), (0, 2))), runner, x=[[1, 2, 3], [4, 5, 6]]) == [2, 5]
    assert runner.seen[0][0] == [(2, 1)]


PAD = "g (float[3] x) => (float[6] y) <int64[2] p = {1, 2}> { y = Pad(x, p) }"


@pytest.mark.parametrize(
    ("channels", "read"), [((0, 2), 3), ((2, 4), 4), ((4, 6), 3)], ids=["first", "middle", "last"]
)
def test_windows_that_keep_the_size_are_cropped(channels: Interval, read: int, runner: Spy) -> None:
    """A window of three channels: y = x / (1 + sum of squares of its neighbours and itself).

    Of channels 2 and 3, channels 1 to 4 are read: 2 / (1 + 1 + 4 + 9), 3 / (1 + 4 + 9 + 16).
    """
    text = (
        "g (float[1,6,1,1] x) => (float[1,6,1,1] y)"
        "{ y = LRN <size = 3, alpha = 3.0, beta = 1.0, bias = 1.0> (x) }"
    )
    x = np.arange(6.0).reshape(1, 6, 1, 1)
    squares = [sum(float(n) ** 2 for n in range(6) if abs(n - at) < 2) for at in range(6)]
    right = [at / (1 + squares[at]) for at in range(*channels)]
    task = task_of(text, ((0, 1), channels, (0, 1), (0, 1)))
    assert run(task, runner, x=x) == pytest.approx(right)
    assert runner.seen[0][0] == [(1, read, 1, 1)]


def test_the_rest_is_embedded_in_whole_tensors(runner: Spy) -> None:
    """0 [1 2 3] 0 0, of which places 2 to 4 hold 2, 3, 0: x is read from its second element on."""
    task = task_of(PAD, ((2, 5),))
    assert [box for _, box in task.reads()] == [((1, 3),)]
    assert run(task, runner, x=[1, 2, 3]) == [2, 3, 0]
    assert runner.seen[0][0][0] == (3,)


TRIANGLE = "g (float[3,3] x) => (float[3,3] y) { y = Trilu <upper = 0> (x) }"


def test_what_depends_on_its_place_is_embedded(runner: Spy) -> None:
    """Of ones below the diagonal row 1 is 1 1 0: by itself it would be the first row, 1 0 0."""
    task = task_of(TRIANGLE, ((1, 2), (0, 3)))
    assert run(task, runner, x=np.ones((3, 3))) == [1, 1, 0]
    assert runner.seen[0][0] == [(3, 3)]


def test_an_input_that_another_output_reads_keeps_its_size(runner: Spy) -> None:
    """Scores need no values: head 1 of the queries and keys, beside whole values, fits nothing."""
    text = (
        "g (float[1,2,1,1] q, float[1,2,2,1] k, float[1,2,2,1] v)"
        " => (float[1,2,1,1] y, float[1,2,1,2] s) { y, , , s = Attention <scale = 1.0> (q, k, v) }"
    )
    graph = graph_of(text, opset=23)
    (op,) = graph.ops
    box = ((0, 1), (1, 2), (0, 1), (0, 2))
    task = TileTask(graph, op, analyse(graph).by_op[op.name], 3, box, None)
    assert [access.tensor for access, _ in task.reads()] == ["q", "k"]
    assert run(task, runner, q=[[[[2]], [[3]]]], k=[[[[1], [1]], [[5], [7]]]]) == [15, 21]
    assert runner.seen[0][0] == [(1, 2, 1, 1), (1, 2, 2, 1), (1, 2, 2, 1)]


def test_what_is_not_read_is_not_a_number(runner: Spy) -> None:
    """An access map that forgets an element is seen."""
    task = task_of(PAD, ((2, 5),))
    ((access, _),) = task.reads()
    found = tile_result(task, [LocalOperand(access, ((1, 2),), np.ones(1, np.float32))], runner)
    assert np.isnan(found).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("cut", "wanted"),
    [((0, 2), [11, 22]), ((2, 4), [3, 4]), (None, [14, 26])],
)
def test_the_bias_is_added_with_the_first_cut_of_k(
    cut: Interval | None, wanted: list[float], runner: Spy
) -> None:
    """1 0 1 0 picks 1 + 3, 0 1 0 1 picks 2 + 4; with a bias of 10 and 20 that is 14 and 26."""
    text = (
        "g (float[1,4] a) => (float[1,2] y)"
        " <float[4,2] b = {1, 0, 0, 1, 1, 0, 0, 1}, float[2] c = {10, 20}>"
        " { y = Gemm(a, b, c) }"
    )
    task = task_of(text, ((0, 1), (0, 2)), cut)
    assert run(task, runner, a=[[1, 2, 3, 4]]) == wanted
    assert task.is_partial == (cut == (2, 4))


def test_a_convolution_is_cut_over_its_channels(runner: Spy) -> None:
    """3 * 2 + 7 of the first channel, 5 * 4 of the second."""
    text = (
        "g (float[1,2,1] x) => (float[1,1,1] y) <float[1,2,1] w = {3, 5}, float[1] b = {7}>"
        " { y = Conv(x, w, b) }"
    )
    box = ((0, 1), (0, 1), (0, 1))
    assert run(task_of(text, box, (0, 1)), runner, x=[[[2], [4]]]) == [13]
    assert run(task_of(text, box, (1, 2)), runner, x=[[[2], [4]]]) == [20]


def test_a_result_of_another_shape_is_refused(runner: Spy) -> None:
    task = task_of("g (float[2] x) => (float[2] y) { y = Relu(x) }", ((0, 3),))
    tensors = dict(task.graph.tensors)
    tensors["y"] = replace(tensors["y"], shape=(3,))
    wrong = replace(task, graph=replace(task.graph, tensors=tensors))
    operands = [LocalOperand(task.reads()[0][0], ((0, 2),), np.ones(2, np.float32))]
    with pytest.raises(ModelError, match="Relu 'Relu_0' does not compute the shape"):
        tile_result(wrong, operands, runner)


def test_poison() -> None:
    """NaN where a type has it, zeros beside a cut of K, which are added."""
    assert np.isnan(poisoned((2,), np.dtype(np.float16))).all()
    assert poisoned((2,), np.dtype(np.float32), is_summed=True).tolist() == [0, 0]
    assert poisoned((2,), np.dtype(np.int64)).tolist() == [0, 0]
    assert poisoned((1,), np.dtype(object)).tolist() == [""]


RESIZE = """g (float[2,1,4] x) => (float[2,1,8] y) <int64[3] s = {2,1,8}>
{ y = Resize <mode="linear"> (x, "", "", s) }"""


def resized(narrow: int) -> TileTask:
    """The right half of the second row, with so many columns fewer than it reads on each side."""
    task = task_of(RESIZE, ((1, 2), (0, 1), (4, 8)))
    (access,) = task.semantics.accesses[0]
    pad = access.axes[2].pad - narrow
    axes = (*access.axes[:2], access.axes[2]._replace(pad=pad))
    reads = ((access._replace(axes=axes),),)
    return replace(task, semantics=replace(task.semantics, accesses=reads))


def test_a_neighbour_of_weight_zero_is_no_read(runner: Spy) -> None:
    """The runtime interpolates between samples too, where only one of them is in the box.

    Output 4 of 8 is at 1.75 of 4: a quarter of column 1, three quarters of column 2.
    """
    values = [[[9, 9, 9, 9]], [[1, 2, 3, 4]]]
    assert run(resized(0), runner, x=values) == [2.75, 3.25, 3.75, 4]
    assert np.isnan(run(resized(1), runner, x=values)).tolist() == [True, False, False, False]
