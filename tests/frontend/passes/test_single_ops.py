"""Rules that change one op: merged groups, and mean pools as convolutions; both sides; replays."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.clean_up import SUBSTITUTE, decomposed
from graphturbo_core.frontend.passes.horizontal import RULE_MERGED
from graphturbo_core.frontend.passes.substitutions import single_ops
from graphturbo_core.frontend.passes.substitutions.branches import RULE_ENLARGED
from graphturbo_core.frontend.passes.substitutions.graph_steps import steps_of, substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.frontend.passes.substitutions.single_ops import RULE_GROUPED, RULE_POOL
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report
from tests.frontend.passes.branch_models import branches_file
from tests.models import imported, model_bytes, op_types

PAIR = "p = Conv<group = 2>(x, wg) q = Relu(p)"
EACH = "p = Conv<group = 8, pads = [1,1,1,1]>(x, wd, v8) q = Relu(p)"
POOLS = {
    "no padding": "kernel_shape = [2,2], strides = [2,2]",
    "padding that counts": "kernel_shape = [3,3], pads = [1,1,1,1], count_include_pad = 1",
    "no padding by name": 'kernel_shape = [3,1], auto_pad = "VALID"',
}
OTHER_POOLS = {
    "padding that does not count": "kernel_shape = [3,3], pads = [1,1,1,1]",
    "padding by name": 'kernel_shape = [3,3], auto_pad = "SAME_UPPER"',
    "a size that is rounded up": "kernel_shape = [2,2], strides = [2,2], ceil_mode = 1",
}


def graph_of(body: str) -> Graph:
    return imported(branches_file(body), ImportOptions("test", batch=2))


def after(body: str, steps: str) -> Graph:
    graph = decomposed(graph_of(body), (f"{SUBSTITUTE}:{steps}",))
    graph.check()
    return graph


def matches(body: str, rule: str) -> list[Substitution]:
    return [match for match in substitutions(graph_of(body)) if match.rule == rule]


def assert_replays(body: str, steps: str) -> None:
    request = RunRequest(
        "one", "taso-like@1", "generic-4x4", 2, options={"taso-like.graph": steps}, verify=True
    )
    found: dict[str, object] = dict(run_report(branches_file(body), request).contract["verify"])
    assert found["ok"], found


def pool(given: str) -> str:
    return f"p = AveragePool<{given}>(x) q = Relu(p)"


def test_two_groups_are_one_by_hand() -> None:
    """Outputs 0 to 2 read channels 0 to 3, outputs 3 to 5 the others."""
    (match,) = matches(PAIR, RULE_GROUPED)
    assert match.numbers == {"from": 2, "to": 1}
    graph = after(PAIR, "0")
    (conv,) = [op for op in graph.ops if op.op_type == "Conv"]
    assert (conv.name, conv.origin, conv.attributes["group"]) == ("p/groups1", "p", 1)
    own = graph_of(PAIR).tensors["wg"].value
    wide = graph.tensors[conv.inputs[1]].value
    assert own is not None and wide is not None and wide.shape == (6, 8, 1, 1)
    assert np.array_equal(wide[:3, :4], own[:3]) and np.array_equal(wide[3:, 4:], own[3:])
    assert not wide[:3, 4:].any() and not wide[3:, :4].any()
    assert_replays(PAIR, "0")


def test_groups_become_fewer_by_powers_of_two_once() -> None:
    found = matches(EACH, RULE_GROUPED)
    assert [match.groups for match in found] == [4, 2, 1]
    for index in range(len(found)):
        graph = after(EACH, str(index))
        assert [match for match in substitutions(graph) if match.rule == RULE_GROUPED] == []
        assert_replays(EACH, str(index))


def test_an_odd_number_of_groups_becomes_one() -> None:
    body = "c = Conv(x, w1) p = Conv<group = 3>(c, ws) q = Relu(p)"
    assert [match.groups for match in matches(body, RULE_GROUPED)] == [1]
    assert_replays(body, "0")


def test_groups_of_several_channels_become_fewer() -> None:
    """Four groups of two inputs and two outputs; the second new group has outputs 4 to 7."""
    body = "p = Conv<group = 4>(x, wq) q = Relu(p)"
    assert [match.groups for match in matches(body, RULE_GROUPED)] == [2, 1]
    graph = after(body, "0")
    own = graph_of(body).tensors["wq"].value
    wide = graph.tensors[next(op for op in graph.ops if op.op_type == "Conv").inputs[1]].value
    assert own is not None and wide is not None and wide.shape == (8, 4, 1, 1)
    for row in range(8):
        first = 2 * (row // 2 % 2)
        assert np.array_equal(wide[row, first : first + 2], own[row])
        assert np.count_nonzero(wide[row]) == np.count_nonzero(own[row])
    for steps in ("0", "1"):
        assert_replays(body, steps)


def test_weights_without_numbers_are_regrouped_and_enlarged() -> None:
    """A weight that ops of weights make has no numbers before the replay."""
    body = (
        "v = Softplus(wg) c = Conv<group = 2>(x, v) d = Conv<pads = [1,1,1,1]>(x, w3)"
        " p = Relu(c) q = Relu(d)"
    )
    for steps, rules in (
        ("0", [RULE_GROUPED]),
        ("0.0", [RULE_GROUPED, RULE_ENLARGED]),
        ("0.0.0", [RULE_GROUPED, RULE_ENLARGED, RULE_MERGED]),
    ):
        assert [match.rule for match in steps_of(graph_of(body), steps)] == rules
        assert_replays(body, steps)


@pytest.mark.parametrize(
    ("limit", "most", "left"), [("MOST_GROUPS", 2, [4]), ("MOST_ELEMENTS", 8 * 9 * 4, [4, 2])]
)
def test_new_weights_are_bounded(
    limit: str, most: int, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_ops, limit, most)
    assert [match.groups for match in matches(EACH, RULE_GROUPED)] == left


@pytest.mark.parametrize(
    "body", ["p = Conv(x, w1) q = Relu(p)", "p = Conv<group = 2>(x, kg) q = Relu(p)"]
)
def test_other_convolutions_keep_their_groups(body: str) -> None:
    """One group; weights from data."""
    assert matches(body, RULE_GROUPED) == []


@pytest.mark.parametrize("given", POOLS.values(), ids=POOLS)
def test_a_mean_pool_is_a_convolution(given: str) -> None:
    body = pool(given)
    (match,) = matches(body, RULE_POOL)
    graph = after(body, "0")
    assert op_types(graph) == "Conv Relu"
    (conv,) = [op for op in graph.ops if op.op_type == "Conv"]
    assert (conv.name, conv.origin, conv.attributes["group"]) == ("p/convolution", "p", 8)
    assert_replays(body, "0")
    assert [each.rule for each in steps_of(graph_of(body), "0.0")] == [RULE_POOL, RULE_GROUPED]
    assert_replays(body, "0.0")
    assert match.subject == ("p",)


@pytest.mark.parametrize("given", OTHER_POOLS.values(), ids=OTHER_POOLS)
def test_other_pools_are_pools(given: str) -> None:
    assert matches(pool(given), RULE_POOL) == []


def test_a_pool_with_dilations_is_a_pool() -> None:
    """Of 1 they change nothing."""
    text = "agraph (float[2,8,9,9] x) => (float[2,8,a,b] p) {{ p = AveragePool<{}>(x) }}"
    for dilation, rules in ((1, [RULE_POOL]), (2, [])):
        given = f"kernel_shape = [2,2], dilations = [{dilation},{dilation}]"
        found = substitutions(imported(model_bytes(text.format(given), 19)))
        assert [match.rule for match in found] == rules


def test_a_large_pool_is_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_ops, "MOST_ELEMENTS", 8 * 4 - 1)
    assert matches(pool("kernel_shape = [2,2]"), RULE_POOL) == []
