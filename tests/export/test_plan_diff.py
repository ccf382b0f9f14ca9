"""Differences of plans: groups by the ops they share, tensors by what they get in any piece."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.export import difference
from graphturbo_core.export.difference import NONE, Difference, capped
from graphturbo_core.export.differences import difference_text
from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_file import Origin, PlanFile
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Binding, Residency, Scope
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.record import GroupRecord, KernelRecord, Record

DIGEST = "0123456789abcdef"
ORIGIN = Origin("m", DIGEST, "c", DIGEST, "graphturbo@16", "fp16", 64, {}, {})
HALVES = Binding((0,), (2,), (0, 1))


def group(name: str, ops: str, pieces: int = 2, axis: int = 0) -> GroupRecord:
    return GroupRecord(name, tuple(ops), axis, pieces)


def kernel(name: str, scope: Scope = Scope.GB, binding: Binding = HALVES) -> KernelRecord:
    return KernelRecord(name, {"t": binding, "u": binding}, {"t": scope}, (), {"w": Residency.LB})


def plan(groups: list[GroupRecord], kernels: list[KernelRecord], size: int = 16) -> PlanFile:
    return PlanFile(ORIGIN, rounds={size: Record(tuple(groups), tuple(kernels))})


def rows(a: PlanFile, b: PlanFile) -> list[tuple[str, str, str, str]]:
    return [(row.part, row.subject, row.a, row.b) for row in plan_differences(a, b)]


BASE = plan([group("g1", "ab"), group("g2", "cd")], [kernel("g1/1"), kernel("g2/1")])


def test_the_same_plan_has_none() -> None:
    assert rows(BASE, BASE) == []


def test_choices_and_edits_are_told() -> None:
    other = replace(BASE, origin=replace(ORIGIN, batch=32), edits=Edits(pieces={"g1": 4}))
    assert rows(BASE, other) == [
        ("choices", "batch", "64", "32"), ("edits", "pieces g1", "-", "4"),
    ]  # fmt: skip


def test_groups_are_told_by_the_ops_they_share() -> None:
    kernels = list(BASE.rounds[16].kernels)
    merged = plan([group("g1", "abcd", 4)], kernels)
    assert rows(BASE, merged) == [(
        "groups", "merged differently: a b",
        "g1 (2 pieces along axis 0) + g2 (2 pieces along axis 0)", "g1 (4 pieces along axis 0)",
    )]  # fmt: skip
    assert rows(merged, BASE)[0][1] == "split differently: a b c d"
    shifted = plan([group("g1", "a"), group("g2", "bcd")], kernels)
    assert rows(BASE, shifted)[0][1] == "cut differently: a b"
    renamed = plan([group("g2", "cd"), group("g1", "ab")], kernels)
    assert rows(BASE, renamed) == []
    split = plan([group("g1", "ab", 4), group("g2", "cd", 1, -1)], kernels)
    assert rows(BASE, split) == [
        ("groups", "g1, a b", "2 pieces along axis 0", "4 pieces along axis 0"),
        ("groups", "g2, c d", "2 pieces along axis 0", "whole"),
    ]


def test_order_is_told_by_its_first_difference() -> None:
    groups = list(BASE.rounds[16].groups)
    turned = plan(groups, [kernel("g2/1"), kernel("g1/1")])
    assert rows(BASE, turned) == [("order", "kernel 1", "g1/1", "g2/1")]
    longer = plan(groups, [kernel("g1/1"), kernel("g2/1"), kernel("g2/2")])
    assert rows(BASE, longer) == [("order", "kernels", "2", "3")]


def test_clusters_that_share_a_round_are_told() -> None:
    def sharing(**changes: object) -> PlanFile:
        whole = Cooperation(4, (0, 0), (0, 1), has_remote_dram=True)
        own = replace(BASE.rounds[16], cooperation=replace(whole, **changes))
        return replace(BASE, rounds={16: own})

    assert rows(BASE, sharing()) == [
        ("clusters", "share the round", NONE, "4, remote DRAM shares"),
        ("clusters", "g1/1", NONE, "cluster 0, step 0"),
        ("clusters", "g2/1", NONE, "cluster 0, step 1"),
    ]
    assert rows(sharing(), sharing(has_remote_dram=False)) == [
        ("clusters", "share the round", "4, remote DRAM shares", "4"),
    ]
    moved = sharing(cluster_of=(0, 3), step_of=(0, 0))
    assert rows(sharing(), moved) == [
        ("clusters", "g2/1", "cluster 0, step 1", "cluster 3, step 0"),
    ]


def test_tensors_are_told_once_whatever_the_pieces() -> None:
    groups = list(BASE.rounds[16].groups)
    other = plan(
        groups,
        [kernel("g1/1", Scope.DRAM), kernel("g2/1", Scope.GB, Binding((1,), (2,), (0, 1)))],
    )
    assert rows(BASE, other) == [
        ("bindings", "t and 1 more", "axis 0 in 2", "axis 0 in 2 or axis 1 in 2"),
        ("scopes", "t", "GB", "DRAM or GB"),
    ]
    cores = plan(groups, [kernel(n, binding=Binding((0,), (2,), (1, 0))) for n in ("g1/1", "g2/1")])
    assert rows(BASE, cores) == [("cores", "t and 1 more", "0 1", "1 0")]


def test_what_is_kept_and_where_weights_are_is_told() -> None:
    groups = list(BASE.rounds[16].groups)
    changed = replace(kernel("g1/1"), kept=("t",), residency={"w": Residency.STREAM})
    other = plan(groups, [changed, kernel("g2/1")])
    assert rows(BASE, other) == [
        ("resident in LB", "t", "-", "resident"), ("residency", "w", "LB", "stream or LB"),
    ]  # fmt: skip


def test_rounds_are_told_apart() -> None:
    record = BASE.rounds[16]
    two = replace(BASE, rounds={16: record, 15: replace(record, groups=(group("g1", "abcd"),))})
    assert rows(BASE, two) == [("rounds", "round of 15", "-", "planned")]
    changed = replace(two, rounds={16: record, 15: record})
    assert rows(two, changed)[0][0] == "groups (round of 15)"


def test_the_largest_rounds_are_compared_where_none_is_of_the_same_size() -> None:
    four = plan([group("g1", "abcd")], [kernel("g1/1")], size=4)
    found = rows(BASE, four)
    assert found[:2] == [
        ("rounds", "round of 16", "planned", "-"), ("rounds", "round of 4", "-", "planned"),
    ]  # fmt: skip
    assert {part for part, *_ in found[2:]} == {
        "groups (rounds of 16 and 4)", "order (rounds of 16 and 4)",
    }  # fmt: skip


def test_options_are_told_by_name() -> None:
    given = [{"graphturbo.peak": value, "lowering.tiles": "4"} for value in ("true", "literal")]
    changed = [replace(BASE, origin=replace(ORIGIN, options=each)) for each in given]
    assert rows(*changed) == [("choices", "options graphturbo.peak", "true", "literal")]


def test_text_has_parts_and_what_is_too_much_is_counted() -> None:
    many = [Difference("p", str(number), "a", "b") for number in range(difference.MAX_ROWS + 5)]
    assert [row.subject for row in capped(many)][-1] == "and 5 more"
    assert difference_text(many[:2]) == "p:\n  0: a -> b\n  1: a -> b"
    assert difference_text([]) == "no difference"
