"""Bytes a core holds, worked out by hand."""

from __future__ import annotations

import pytest

from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.products.plan import Binding
from graphturbo_core.semantics import fit, known_needs
from graphturbo_core.semantics.fit import KernelHold, holding_boxes
from graphturbo_core.semantics.nests import LoopNest, loop_nests
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.relay import relay_layers
from tests.strategies.chains import HALO, POINTWISE
from tests.strategies.samples import weighted


def hold(text: str, binding: Binding, lb_data_bytes: int = 65_536) -> KernelHold:
    """All layers as one kernel, each tensor it computes bound alike."""
    sem = weighted(text)
    nests = tuple(
        nest for layer in relay_layers(sem) for nest in loop_nests(sem, layer.ops, lambda _: False)
    )
    shares: dict[str, dict[int, Box]] = {
        nest.output: binding.shares(full_box(sem.graph.tensors[nest.output].shape))
        for nest in nests
    }
    widths = dict.fromkeys(sem.graph.tensors, 2)
    return KernelHold(sem, nests, holding_boxes(sem, nests, shares), widths, lb_data_bytes // 8)


def test_chain_cut_by_samples() -> None:
    # A sample: x and z 8 * 64 * 2 = 1,024 bytes, y 2,048. First nest: x + y, second: y + z.
    found = hold(POINTWISE, Binding((0,), (4,), (0, 1, 2, 3)))
    assert found.live_bytes() == dict.fromkeys(range(4), (3_072, 3_072))


def test_streamed_result_counts_two_tiles() -> None:
    # Tiles of 1,600 / 16 = 100 bytes: y + 2 * 100, unless z is kept to the end.
    found = hold(POINTWISE, Binding((0,), (4,), (0, 1, 2, 3)), lb_data_bytes=1_600)
    assert found.live_bytes()[0] == (3_072, 2_248)
    assert found.live_bytes(kept={"z"})[0] == (3_072, 3_072)
    assert found.peak_bytes() == 3_072


def test_core_halos_are_held() -> None:
    # 8 rows over 2 cores, 128 bytes a row. y: own rows 0-4 and the halo row 4; x: rows 0-5.
    found = hold(HALO, Binding((2,), (2,), (0, 1)))
    assert found.boxes["y"][0][2] == (0, 5)
    assert found.boxes["x"][1][2] == (3, 8)
    assert found.live_bytes()[0] == ((5 + 5) * 128, (5 + 4) * 128)


def test_uneven_shares_count_the_worst_core() -> None:
    # 4 samples over 3 cores: core 0 has two.
    found = hold(POINTWISE, Binding((0,), (3,), (0, 1, 2)))
    assert found.peak_bytes() == 2 * 3_072


def test_elementwise_nest_overwrites_its_operand() -> None:
    text = "g (float[4,8] x) => (float[4,8] z) { z = Relu(x) }"
    # One row of 16 bytes a core; x gives way to z.
    assert hold(text, Binding((0,), (4,), (0, 1, 2, 3))).peak_bytes() == 16


def test_nests_alike_hold_boxes_of_their_own_tensors() -> None:
    """Four blocks, the first two alike; 8 rows over 4 cores, then over 2 for the last block.

    A transpose needs columns where the others need rows. Core 1 computes rows 2 and 3 of c and
    needs rows 4 to 7 for its half of d.
    """
    text = """
    g (float[8,8] x) => (float[8,8] d) {
      a = Relu (x)
      b = Relu (a)
      c = Transpose<perm=[1,0]> (b)
      d = Relu (c)
    }"""
    sem = weighted(text)
    nests = tuple(LoopNest((op.name,), op.outputs[0]) for op in sem.graph.ops)
    four, two = Binding((0,), (4,), (0, 1, 2, 3)), Binding((0,), (2,), (0, 1))
    whole = ((0, 8), (0, 8))
    shares = {name: four.shares(whole) for name in "abc"} | {"d": two.shares(whole)}
    held = holding_boxes(sem, nests, shares)
    rows = {core: ((2 * core, 2 * core + 2), (0, 8)) for core in range(4)}
    assert held["x"] == held["a"] == rows
    assert held["b"][0] == ((0, 8), (0, 8))
    assert held["b"][3] == ((0, 8), (0, 8))
    assert held["c"] == {0: ((0, 4), (0, 8)), 1: ((2, 8), (0, 8)), 2: rows[2], 3: rows[3]}


CHAIN = "g (float[4,8] x) => (float[4,8] z) { a = Relu(x) b = Relu(a) z = Relu(b) }"


def worked_out(patch: pytest.MonkeyPatch) -> list[str]:
    """Outputs of the nests whose needs are worked out from now on."""
    seen, real = list[str](), fit._core_needs

    def counted(sem: GraphSemantics, nest: LoopNest, shares: fit.Shares) -> object:
        seen.append(nest.output)
        return real(sem, nest, shares)

    patch.setattr(fit, "_core_needs", counted)
    return seen


def test_needs_of_nests_alike_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The middle one reads no input and writes no output: with another binding it is another."""
    seen, sem = worked_out(monkeypatch), weighted(CHAIN)
    nests = [LoopNest((op.name,), op.outputs[0]) for op in sem.graph.ops]
    rows = {0: ((0, 2), (0, 8)), 1: ((2, 4), (0, 8))}
    for shares in (rows, rows, {0: ((0, 4), (0, 8))}):
        found = [fit.core_needs(sem, nest, {nest.output: shares}) for nest in nests]
        assert found == [{"x": shares}, {"a": shares}, {"b": shares}]
    assert len(seen) == 2 * len({sem.kinds[op.name] for op in sem.graph.ops})


def test_needs_are_forgotten_when_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three boxes two may be kept: the first is worked out again, and again."""
    monkeypatch.setattr(known_needs, "MOST_BOXES", 2)
    seen, sem = worked_out(monkeypatch), weighted(CHAIN)
    nest = LoopNest((sem.graph.ops[1].name,), "b")
    for end in (1, 2, 3, 3, 1):
        shares = {0: ((0, end), (0, 8))}
        assert fit.core_needs(sem, nest, {"b": shares}) == {"a": shares}
    assert len(seen) == 4
