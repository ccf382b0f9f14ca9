"""Kernels on the rectangle of layers and samples, worked out from the plans."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from graphturbo_core.comparison.side_by_side.kernel_picture import (
    MOST_KERNELS,
    WHOLE,
    KernelPicture,
    ModelPart,
    kernel_picture,
)
from graphturbo_core.report.report import Report
from tests.comparison.runs import report_of


def with_rows(report: Report, **tables: object) -> Report:
    return replace(report, tables={**report.tables, **tables})


def cover(picture: KernelPicture) -> float:
    return sum(stretch.foot - stretch.top for stretch in picture.stretches)


@pytest.mark.parametrize("strategy", ["layerwise@2", "tvm@2", "xla@2", "graphturbo@2"])
def test_kernels_cover_every_layer_once(strategy: str) -> None:
    report = report_of(strategy)
    picture = kernel_picture(report)
    layers = len(report.tables["layers"])
    assert picture.layers == layers
    assert cover(picture) == pytest.approx(layers)
    ends = sorted((stretch.top, stretch.foot) for stretch in picture.stretches)
    assert ends[0][0] == 0
    assert ends[-1][1] == pytest.approx(layers)
    for (_, foot), (top, _) in pairwise(ends):
        assert foot == pytest.approx(top)


def test_a_layer_of_several_sub_graphs_is_divided_equally() -> None:
    """`layerwise` runs conv and relu as two kernels of one layer."""
    report = report_of("layerwise@2")
    owners = [{node["group"] for node in report.tables["graph_nodes"] if node["layer"] == layer}
              for layer in range(len(report.tables["layers"]))]  # fmt: skip
    layer, count = next((n, len(found)) for n, found in enumerate(owners) if len(found) > 1)
    own = [s for s in kernel_picture(report).stretches if layer <= s.top < layer + 1]
    assert count == 2
    assert [(s.top, s.foot) for s in own] == [(layer, layer + 0.5), (layer + 0.5, layer + 1)]


def test_rounds_are_side_by_side() -> None:
    """Eight samples on four clusters, two at once: one round; with one at once two rounds."""
    report = report_of("tvm@2")
    assert [row["count"] for row in report.tables["rounds"]] == [1]
    assert {stretch.parts for stretch in kernel_picture(report).stretches} == {(WHOLE,)}
    twice = with_rows(report, rounds=({"samples": 1, "count": 2, "cycles": 1, "is_drawn": True},))
    found = {stretch.parts for stretch in kernel_picture(twice).stretches}
    assert found == {((0.0, 0.5, 0.0, 1.0), (0.5, 1.0, 0.0, 1.0))}


def test_rounds_of_other_sizes_have_other_widths() -> None:
    rounds = (
        {"samples": 3, "count": 1, "cycles": 1, "is_drawn": True},
        {"samples": 1, "count": 1, "cycles": 1, "is_drawn": False},
    )
    picture = kernel_picture(with_rows(report_of("tvm@2"), rounds=rounds))
    assert picture.stretches[0].parts == ((0.0, 0.75, 0.0, 1.0), (0.75, 1.0, 0.0, 1.0))


@pytest.mark.parametrize(("count", "has_parts"), [(MOST_KERNELS, True), (MOST_KERNELS + 1, False)])
def test_of_more_kernels_than_can_be_told_apart_there_is_the_number(
    count: int, has_parts: bool
) -> None:
    rounds = ({"samples": 1, "count": count, "cycles": 1, "is_drawn": True},)
    stretch = kernel_picture(with_rows(report_of("tvm@2"), rounds=rounds)).stretches[0]
    assert stretch.kernels == count
    assert stretch.is_many is not has_parts
    assert (len(stretch.parts) == count) is has_parts
    assert has_parts or stretch.parts == (WHOLE,)


def test_pieces_are_parts_of_their_sub_graph() -> None:
    """One sub-graph, cut in two along the samples and in two along rows."""
    report = report_of("tvm@2")
    cut = [
        {**report.tables["pieces"][0], "first": column, "end": column + 1, "extent": 2,
         "second_first": row, "second_end": row + 1, "second_extent": 2}
        for column in range(2) for row in range(2)
    ]  # fmt: skip
    kernels = [report.tables["kernels"][0]] * len(cut)
    picture = kernel_picture(with_rows(report, kernels=kernels, pieces=cut))
    stretch = picture.stretches[0]
    assert stretch.kernels == 4
    assert stretch.parts == (
        (0.0, 0.5, 0.0, 0.5), (0.0, 0.5, 0.5, 1.0), (0.5, 1.0, 0.0, 0.5), (0.5, 1.0, 0.5, 1.0),
    )  # fmt: skip


def test_a_hue_is_the_number_of_the_part() -> None:
    parts = (ModelPart("stem", 0, 1), ModelPart("head", 2, 4))
    picture = KernelPicture(6, parts, ())
    assert [picture.hue(layer) for layer in (0, 1.5, 2, 4.9, 5)] == [0, 0, 1, 1, -1]


def test_all_strategies_have_the_same_parts() -> None:
    found = {kernel_picture(report_of(name)).parts for name in ("layerwise@2", "graphturbo@2")}
    assert len(found) == 1


def idle(report: Report, repeats: int, clusters: int, *rows: dict[str, int]) -> Report:
    """A batch of one sample per repeat on more clusters; pieces of the first sub-graph."""
    whole = {**report.tables["round"][0], "repeats": repeats, "clusters": clusters}
    piece = report.tables["pieces"][0]
    kernels = [report.tables["kernels"][0]] * len(rows)
    changed = with_rows(
        report, round=(whole,), kernels=kernels, pieces=[{**piece, **row} for row in rows]
    )
    return replace(changed, contract={**report.contract, "batch": repeats})


def lefts(report: Report) -> list[tuple[float, float]]:
    return [part[:2] for part in kernel_picture(report).stretches[0].parts]


def test_with_fewer_samples_than_clusters_the_clusters_stand_side_by_side() -> None:
    """Two samples on four clusters: two of them work."""
    report = idle(report_of("tvm@2"), 2, 4, {"cluster": 0})
    assert kernel_picture(report).clusters == 4
    assert lefts(report) == [(0.0, 0.25), (0.25, 0.5)]
    enough = replace(report, contract={**report.contract, "batch": 4})
    assert kernel_picture(enough).clusters == 0


def test_clusters_that_share_a_sample_have_their_own_kernels() -> None:
    """Cluster 1 runs the first half of the rows, cluster 3 the second one in two pieces."""
    rows = [{"cluster": 1, "first": 0, "end": 2, "extent": 4}] + [
        {"cluster": 3, "first": at, "end": at + 1, "extent": 4} for at in (2, 3)
    ]
    report = idle(report_of("tvm@2"), 1, 4, *rows)
    assert lefts(report) == [(0.25, 0.5), (0.75, 0.875), (0.875, 1.0)]
    assert kernel_picture(report).stretches[0].kernels == 3


def test_too_many_kernels_of_a_cluster_are_one_box_of_it() -> None:
    count = MOST_KERNELS + 1
    rows = [{"cluster": 0, "first": at, "end": at + 1, "extent": count} for at in range(count)]
    report = idle(report_of("tvm@2"), 1, 2, *rows)
    assert lefts(report) == [(0.0, 0.5)]
    assert kernel_picture(report).stretches[0].kernels == count
