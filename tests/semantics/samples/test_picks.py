"""Gathers of merged samples by constant indices: when does each sample pick from itself alone?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.ir.graph import Op
from graphturbo_core.semantics.independence import dependence_on_batch
from graphturbo_core.semantics.picks import (
    offsets_in_samples,
    own_picks,
    picking_own,
    unknown_picks,
)
from graphturbo_core.semantics.sample_axis import mixed_samples
from graphturbo_core.semantics.table import GraphSemantics, analyse
from tests.models import imported

Array = np.ndarray
WIDTH, ALL, FEW = 4, 8, 2
OWN = np.array([3, 0, 0])
"""What each sample picks of its own four elements."""


def node(call: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(call, inputs.split(), [output], output, **attributes)


MERGED = (node("Reshape", "x flat", "all"), node("Gather", "all i", "y", axis=0))


def semantics(samples: int, indices: Array | None, *nodes: onnx.NodeProto) -> GraphSemantics:
    """[samples, 4] numbers x, indices i, the result y."""
    weights = {"flat": np.array([-1]), "pairs": np.array([-1, 2]), "i": indices}
    protos = [numpy_helper.from_array(each, n) for n, each in weights.items() if each is not None]
    if indices is None:
        shape = [samples, len(OWN)]
        protos.append(onnx.TensorProto(name="i", dims=shape, data_type=TensorProto.INT64))
        protos[-1].data_location = TensorProto.EXTERNAL
        protos[-1].external_data.add(key="location", value="nowhere")
    graph = helper.make_graph(
        list(nodes or MERGED), "picks",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [samples, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], protos,
    )  # fmt: skip
    opset = helper.make_opsetid("", 18)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    return analyse(imported(model.SerializeToString()))


def reasons(
    many: Array, few: Array, *nodes: onnx.NodeProto, others: Array | None = None
) -> list[str | None]:
    """Of both proofs, for eight samples in rounds of two."""
    whole, part = semantics(ALL, many, *nodes), semantics(FEW, few, *nodes)
    return [dependence_on_batch(whole, part), mixed_samples(part, whole, (FEW, ALL))]


def own(samples: int, offsets: Array = OWN) -> Array:
    """Indices of all samples that are the same relative to the start of each."""
    starts = np.arange(samples) * WIDTH
    return starts.reshape(-1, *(1,) * offsets.ndim) + offsets


def changed(indices: Array, place: tuple[int, ...], to: int) -> Array:
    indices = indices.copy()
    indices[place] = to
    return indices


def test_each_sample_picks_its_own() -> None:
    assert reasons(own(ALL), own(FEW)) == [None, None]


def test_several_rows_per_sample() -> None:
    """[16, 3] indices of eight samples, two rows for each."""
    rows = np.array([[3, 0, 0], [1, 1, 2]])
    many, few = (own(samples, rows).reshape(-1, 3) for samples in (ALL, FEW))
    assert reasons(many, few) == [None, None]
    assert reasons(changed(many, (5, 0), 12), few).count(None) == 0


def test_negative_indices_count_from_the_end() -> None:
    """-32 is the first of 32 elements; one that is negative by itself is the last sample's."""
    many, few = own(ALL), own(FEW)
    assert reasons(many - ALL * WIDTH, few - FEW * WIDTH) == [None, None]
    assert reasons(many, few - FEW * WIDTH) == [None, None]
    assert reasons(changed(many, (0, 0), -1), few).count(None) == 0
    assert reasons(many, changed(few, (0, 0), -1)).count(None) == 0


@pytest.mark.parametrize(
    ("place", "to"),
    [((3, 0), 16), ((3, 0), 11), ((7, 2), 27), ((0, 0), 4)],
    ids=["the next sample's", "the one's before", "the last sample's row", "the first one's row"],
)
def test_one_index_of_another_sample(place: tuple[int, int], to: int) -> None:
    assert reasons(changed(own(ALL), place, to), own(FEW)).count(None) == 0


def test_one_sample_picks_another_of_its_own_elements() -> None:
    """Sample 3 has elements 12 to 16 and picks 13 where the others pick their first."""
    assert reasons(changed(own(ALL), (3, 1), 13), own(FEW)).count(None) == 0


def test_the_model_for_fewer_samples_picks_others() -> None:
    assert reasons(own(ALL), own(FEW, np.array([3, 0, 1]))).count(None) == 0
    assert reasons(own(ALL), own(FEW, OWN[:2])).count(None) == 0


def test_all_samples_pick_of_the_first() -> None:
    """Equal rows are no repeated constant where they are indices."""
    many, few = (np.broadcast_to(OWN, (samples, 3)) for samples in (ALL, FEW))
    assert reasons(many, few).count(None) == 0


def test_samples_merged_behind_their_elements() -> None:
    """[4, samples] flat: eight numbers of the first column are not those of a sample."""
    turned = (node("Transpose", "x", "t", perm=[1, 0]), node("Reshape", "t flat", "all"))
    gather = node("Gather", "all i", "y", axis=0)
    assert reasons(own(ALL), own(FEW), *turned, gather).count(None) == 0
    many, few = (np.arange(n)[:, None] + OWN * n for n in (ALL, FEW))
    assert reasons(many, few, *turned, gather).count(None) == 0


def test_the_only_axis_has_two_names() -> None:
    nodes = (MERGED[0], node("Gather", "all i", "y", axis=-1))
    assert reasons(own(ALL), own(FEW), *nodes) == [None, None]


def test_gather_elements_of_rows() -> None:
    """[16, 2]: two rows per sample, of which each column picks one."""
    nodes = (node("Reshape", "x pairs", "all"), node("GatherElements", "all i", "y", axis=0))
    many, few = (np.arange(n)[:, None] * 2 + np.array([1, 0]) for n in (ALL, FEW))
    assert reasons(many, few, *nodes) == [None, None]
    assert reasons(changed(many, (3, 1), 8), few, *nodes).count(None) == 0


def test_gather_nd_of_samples_and_columns() -> None:
    nodes = (node("GatherND", "x i", "y"),)

    def places(samples: int) -> Array:
        rows = np.repeat(np.arange(samples)[:, None], len(OWN), axis=1)
        return np.stack([rows, np.broadcast_to(OWN, rows.shape)], axis=-1)

    many, few = places(ALL), places(FEW)
    assert reasons(many, few, *nodes) == [None, None]
    assert reasons(changed(many, (3, 0, 0), 4), few, *nodes).count(None) == 0
    assert reasons(changed(many, (3, 0, 1), 2), few, *nodes).count(None) == 0


def test_indices_that_another_op_reads_are_no_rows_of_a_sample() -> None:
    """Their numbers differ per sample: the same op may pick by them from another tensor."""
    again = (MERGED[0], node("Gather", "all i", "p", axis=0), node("Gather", "p i", "y", axis=0))
    for nodes, count in ((MERGED, 1), (again, 0)):
        few, many = (semantics(samples, own(samples), *nodes).graph for samples in (FEW, ALL))
        assert len(own_picks((few, many), (FEW, ALL))) == count


def test_unknown_indices_are_named_and_taken_to_stay_in_their_sample() -> None:
    whole, part = semantics(ALL, None), semantics(FEW, None)
    assert dependence_on_batch(whole, part) is not None
    assert mixed_samples(part, whole, (FEW, ALL)) is not None
    assert unknown_picks(whole, ALL) == unknown_picks(part, FEW) == {"y"}
    assert dependence_on_batch(picking_own(whole, {"y"}, ALL), part) is None


@pytest.mark.parametrize(
    ("indices", "size"),
    [
        (own(ALL) + WIDTH, ALL * WIDTH),
        (own(ALL) - (ALL + 1) * WIDTH, ALL * WIDTH),
        (own(ALL), ALL * WIDTH + 1),
        (own(ALL + 1), ALL * WIDTH),
        (np.array(3), ALL * WIDTH),
        (own(ALL)[:0], ALL * WIDTH),
    ],
    ids=["past the end", "past the beginning", "size", "rows", "one number", "no rows"],
)
def test_indices_that_have_no_part_per_sample(indices: Array, size: int) -> None:
    gather = Op("y", "Gather", "", ("all", "i"), ("y",), {}, 18)
    assert offsets_in_samples(gather, indices, size, ALL) is None
    fitting = offsets_in_samples(gather, own(ALL), ALL * WIDTH, ALL)
    assert fitting is not None
    np.testing.assert_array_equal(fitting, OWN[None])


@pytest.mark.parametrize("indices", [own, lambda n: np.full((n, 3), 1)])
def test_known_indices_are_never_assumed(indices: Callable[[int], Array]) -> None:
    assert not unknown_picks(semantics(ALL, indices(ALL)), ALL)
