"""Concatenations of `tensorrt-like` on small graphs worked out by hand: both sides of each rule."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners import joined_operands
from graphturbo_core.strategies.partitioners.joined_operands import (
    RULE_CONCAT_FULL,
    RULE_CONCAT_OFF,
    RULE_JOINED,
    RULE_OTHER_RESULT,
    RULE_READ_TWICE,
)
from graphturbo_core.strategies.partitioners.op_kernels import in_legal_order
from graphturbo_core.strategies.partitioners.tensorrt_like import RULE_CONCAT, layered_kernels
from tests.frontend.passes.branch_models import branches_file
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import weighted

MAP, WIDE = "float[1,4,8,8]", "float[1,8,8,8]"
BOTH = "c = Conv(x, w) p = Relu(c) d = Conv(y, w) z = Concat<axis = 1>(p, d)"


def of_maps(body: str, outputs: str = f"{WIDE} z") -> str:
    return f"g ({MAP} x, {MAP} y, float[4,4,1,1] w) => ({outputs}) {{ {body} }}"


def kernels(text: str, *, has_concat: bool = True) -> list[str]:
    """Each kernel's ops with spaces, in a legal order."""
    sem = weighted(text)
    found = layered_kernels(sem, has_concat=has_concat)
    return [" ".join(ops) for ops, _ in in_legal_order(sem.graph, found.kernels)]


def rules(text: str, pair: str, *, has_concat: bool = True) -> list[tuple[str, bool]]:
    """All decisions about a producer and its reader."""
    found = layered_kernels(weighted(text), has_concat=has_concat).decisions
    return [(each.rule, each.is_taken) for each in found if " ".join(each.subject) == pair]


def test_a_concatenation_and_the_producers_of_its_operands_are_one_kernel() -> None:
    """Each pair has one decision: that no rule of products joins it is dropped."""
    text = of_maps(BOTH)
    assert kernels(text) == ["c p d z"]
    assert rules(text, "p z") == rules(text, "d z") == [(RULE_JOINED, True)]


def test_off_it_is_a_kernel_of_its_own() -> None:
    text = of_maps(BOTH)
    assert kernels(text, has_concat=False) == ["c p", "d", "z"]
    assert rules(text, "p z", has_concat=False) == [(RULE_CONCAT_OFF, False)]


@pytest.mark.parametrize(
    ("body", "outputs"),
    [
        (f"{BOTH} r = Exp(p)", f"{WIDE} z, {MAP} r"),
        (BOTH, f"{WIDE} z, {MAP} p"),
    ],
)
def test_an_operand_that_is_read_elsewhere_does_not_join(body: str, outputs: str) -> None:
    """By another op, or as a result of the model. The other operand joins."""
    text = of_maps(body, outputs)
    assert {"c p", "d z"} <= set(kernels(text))
    assert rules(text, "p z") == [(RULE_READ_TWICE, False)]
    assert rules(text, "d z") == [(RULE_JOINED, True)]


HALVES = "a, b = Split<axis = 1, num_outputs = 2>(x) z = Concat<axis = 1>(a, y)"
HALF, REST = "float[1,6,8,8] z", "float[1,2,8,8]"


def test_a_kernel_with_another_result_does_not_join() -> None:
    """Both halves of a Split are used; with one half alone the Split joins."""
    text = of_maps(f"{HALVES} r = Exp(b)", f"{HALF}, {REST} r")
    assert kernels(text) == ["a", "z", "r"]
    assert rules(text, "a z") == [(RULE_OTHER_RESULT, False)]
    assert kernels(of_maps(HALVES, HALF)) == ["a z"]


def test_a_kernel_with_another_result_of_the_model_does_not_join() -> None:
    assert rules(of_maps(HALVES, f"{HALF}, {REST} b"), "a z") == [(RULE_OTHER_RESULT, False)]


def test_a_kernel_joins_with_all_its_results() -> None:
    """Both halves are operands of one concatenation; of two, each is another result."""
    text = of_maps(HALVES.replace("(a, y)", "(b, y, a)"), f"{WIDE} z")
    assert kernels(text) == ["a z"]
    assert rules(text, "a z") == [(RULE_JOINED, True)]
    text = of_maps(f"{HALVES} r = Concat<axis = 1>(b, y)", f"{HALF}, float[1,6,8,8] r")
    assert kernels(text) == ["a", "z", "r"]
    assert rules(text, "a z") == rules(text, "a r") == [(RULE_OTHER_RESULT, False)]


def test_operands_of_the_model_and_weights_have_no_decision() -> None:
    text = of_maps("z = Concat<axis = 1>(x, y)")
    assert kernels(text) == ["z"]
    assert layered_kernels(weighted(text)).decisions == ()


def test_an_operand_that_occurs_twice_joins_once() -> None:
    text = of_maps("c = Exp(x) z = Concat<axis = 1>(c, c)")
    assert kernels(text) == ["c z"]
    assert rules(text, "c z") == [(RULE_JOINED, True)]


def test_a_concatenation_of_a_concatenation_is_in_the_same_kernel() -> None:
    body = f"{BOTH.replace('z =', 'a =')} e = Exp(y) z = Concat<axis = 1>(a, e)"
    text = of_maps(body, "float[1,12,8,8] z")
    assert kernels(text) == ["c p d a e z"]


def test_a_concatenation_does_not_join_its_reader() -> None:
    text = of_maps(f"{BOTH.replace('z =', 'a =')} z = Relu(a)")
    assert kernels(text) == ["c p d a", "z"]
    assert rules(text, "a z") == [(RULE_CONCAT, False)]


@pytest.mark.parametrize(("most", "found"), [(4, ["c p d z"]), (3, ["c p z", "d"]), (2, ["d z"])])
def test_the_ops_of_a_kernel_are_limited(
    monkeypatch: pytest.MonkeyPatch, most: int, found: list[str]
) -> None:
    """Two ops with the first operand, one with the second; the concatenation is one more."""
    monkeypatch.setattr(joined_operands, "MAX_KERNEL_OPS", most)
    text = of_maps(BOTH)
    assert set(found) <= set(kernels(text))
    full = [pair for pair in ("p z", "d z") if rules(text, pair) == [(RULE_CONCAT_FULL, False)]]
    assert full == {4: [], 3: ["d z"], 2: ["p z"]}[most]


@given(random_graphs())
def test_kernels_with_concatenations_are_a_partition_in_a_legal_order(sem: GraphSemantics) -> None:
    """`in_legal_order` refuses kernels that need each other."""
    found = layered_kernels(sem)
    ordered = in_legal_order(sem.graph, found.kernels)
    counts = Counter(op for ops, _ in ordered for op in ops)
    assert counts == dict.fromkeys((op.name for op in sem.graph.ops), 1)


BRANCHES = """c = Conv(x, w1) p = Relu(c) d = Conv<pads = [1,1,1,1]>(x, w3) q = Relu(d)
    a = Concat<axis = 1>(p, q) e = Conv(y, w2) z = Concat<axis = 1>(a, e)"""


@pytest.mark.parametrize("profile", ["generic-4x4", "stcp920", "goya", "ascend910"])
@pytest.mark.parametrize("concat", ["on", "off"])
def test_runs_with_concatenations_replay(profile: str, concat: str) -> None:
    options = {"tensorrt-like.concat": concat}
    request = RunRequest("b", "tensorrt-like@1", profile, 2, options=options, verify=True)
    report = run_report(branches_file(BRANCHES, "z"), request)
    found: dict[str, object] = dict(report.contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found


def test_squeezenet_is_faster_with_concatenations_in_kernels() -> None:
    """Each of its eight modules has one: its operands do not go through DRAM."""
    requests = [
        RunRequest(
            "light-squeezenet", "tensorrt-like@1", "stcp920", 4,
            options={"tensorrt-like.concat": text}, has_pictures=False,
        )
        for text in ("on", "off")
    ]  # fmt: skip
    model = load_sample("light-squeezenet")
    on, off = (run_report(model, request).contract for request in requests)
    assert int(str(on["cycles"])) < int(str(off["cycles"]))
