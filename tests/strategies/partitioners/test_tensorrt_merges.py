"""Kernels of merged convolutions, their decisions and replays, and runs beside other strategies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.clean_up import HORIZONTAL, decomposed
from graphturbo_core.frontend.passes.horizontal import RULE_KERNEL, RULE_MERGED
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import Imports
from graphturbo_core.semantics.table import analyse
from graphturbo_core.strategies.partitioners.op_kernels import in_legal_order
from graphturbo_core.strategies.partitioners.single_reads import RULE_SEVERAL_READERS
from graphturbo_core.strategies.partitioners.tensorrt_like import (
    MERGE_STEP,
    RULE_ACTIVATION,
    RULE_BRANCH,
    RULE_BRANCH_SUM,
    RULE_ENDED,
    RULE_MERGES_OFF,
    RULE_SCALED,
    TensorRtLike,
    layered_kernels,
    merge_decisions,
)
from graphturbo_core.strategies.registry import STRATEGIES
from tests.frontend.passes.branch_models import branches_file, relus
from tests.models import imported

OFF = {"tensorrt-like.horizontal": "off"}
APART = {"tensorrt-like.concat": "off"}
TWO = relus("Conv(x, w1)", "Conv(x, w2)")
BIASED = "c = Conv(x, w1) d = Conv(x, w1) e = Add(c, vc) f = Mul(d, vc) q = Relu(f)"
"""Two convolutions, one with a bias behind it, one with a scale."""


def graph_of_branches(body: str, outputs: str = "p, q") -> Graph:
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


def merged(body: str, outputs: str = "p, q") -> Graph:
    graph = decomposed(graph_of_branches(body, outputs), (HORIZONTAL,))
    assert graph.undecomposed is not None
    return graph


def kernels(graph: Graph) -> list[str]:
    """Each kernel's ops with spaces, in a legal order."""
    found = layered_kernels(analyse(graph)).kernels
    return [" ".join(ops) for ops, _ in in_legal_order(graph, found)]


def rules(graph: Graph) -> dict[str, tuple[str, bool]]:
    """The last rule per pair of ops."""
    found = layered_kernels(analyse(graph)).decisions
    return {" ".join(each.subject): (each.rule, each.is_taken) for each in found}


def test_slices_and_activations_are_in_the_kernel_of_the_merged_convolution() -> None:
    graph = merged(TWO)
    assert kernels(graph) == ["c/merged c/slice d/slice p q"]
    found = rules(graph)
    assert found["c/merged c/slice"] == found["c/merged d/slice"] == (RULE_BRANCH, True)
    assert found["c/slice p"] == found["d/slice q"] == (RULE_ACTIVATION, True)


def test_an_activation_ends_a_branch() -> None:
    graph = merged(f"{TWO} r = Tanh(p)", "q, r")
    assert kernels(graph) == ["c/merged c/slice d/slice p q", "r"]
    assert rules(graph)["p r"] == (RULE_ENDED, False)


def test_a_slice_with_several_readers_ends_a_branch() -> None:
    body = "c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) e = Tanh(c) q = Neg(d)"
    graph = merged(body, "p, q, e")
    assert kernels(graph) == ["c/merged c/slice d/slice", "p", "e", "q"]
    assert rules(graph)["c/slice p"] == (RULE_SEVERAL_READERS, False)


def test_a_branch_takes_biases_and_scales_before_its_activation() -> None:
    body = f"{BIASED} p = Relu(e)"
    graph = merged(body)
    assert kernels(graph) == ["c/merged c/slice d/slice e f q p"]
    found = rules(graph)
    assert found["c/slice e"] == found["d/slice f"] == (RULE_SCALED, True)
    assert found["e p"] == found["f q"] == (RULE_ACTIVATION, True)
    assert replayed(body) == 1


def test_a_branch_takes_no_residual_sum() -> None:
    """The other operand depends on the other branch: with the sum, two kernels need each other."""
    body = f"{BIASED} h = Exp(q) g = Add(e, h) p = Relu(g)"
    graph = merged(body)
    assert kernels(graph) == ["c/merged c/slice d/slice e f q", "h g p"]
    assert rules(graph)["e g"] == (RULE_BRANCH_SUM, False)
    assert replayed(body) == 2


def test_a_slice_of_the_file_is_no_branch() -> None:
    body = """begin = Constant <value_ints = [0]> () end = Constant <value_ints = [3]> ()
        axis = Constant <value_ints = [1]> () c = Conv(x, w1) s = Slice(c, begin, end, axis)
        p = Relu(s)"""
    graph = decomposed(graph_of_branches(body, "p"), (HORIZONTAL,))
    assert kernels(graph) == ["c", "s", "p"]


def test_merges_that_feed_each_other_have_a_legal_order() -> None:
    """The sums join the later products, which read the other branch of the first merge."""
    body = """c = Conv(x, w1) d = Conv(x, w1) a = Relu(c) o = Relu(d)
        e = Conv(a, w5) f = Conv(a, w5) g = Conv(o, w5) h = Conv(o, w5)
        i = Relu(e) j = Relu(f) m = Add(i, g) n = Add(j, h) p = Relu(m) q = Relu(n)"""
    assert kernels(merged(body)) == [
        "c/merged c/slice d/slice a o", "e/merged e/slice f/slice i j", "g m p", "h n q",
    ]  # fmt: skip
    assert replayed(body) == 4


def report_of(body: str, options: Mapping[str, str], outputs: str = "p, q") -> Report:
    request = RunRequest(
        "branches", "tensorrt-like@1", "generic-4x4", 2, options=options, verify=True
    )
    return run_report(branches_file(body, outputs), request)


def replayed(body: str, options: Mapping[str, str] | None = None) -> int:
    """Kernels of a run whose outputs equal ONNX Runtime's on the file."""
    contract = report_of(body, options or {}).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    return int(str(contract["kernels"]))


def test_the_option_switches_merges_off() -> None:
    assert (replayed(TWO), replayed(TWO, OFF)) == (1, 2)
    assert TensorRtLike().import_passes == (HORIZONTAL,)
    assert TensorRtLike(horizontal=False).import_passes == ()


def merges(report: Report) -> list[tuple[object, ...]]:
    return [
        (row["subject"], row["rule"], row["taken"], row["numbers"])
        for row in report.tables["decisions"]
        if row["step"] == MERGE_STEP
    ]


def test_decisions_name_both_convolutions_and_their_numbers() -> None:
    body = f"{TWO} e = Conv(x, w3) r = Relu(e)"
    refused = ("c + e", RULE_KERNEL, False, "first 1x1, second 3x3")
    found = merges(report_of(body, {}, "p, q, r"))
    assert found == [("c + d", RULE_MERGED, True, "convolutions 2, channels 16"), refused]
    found = merges(report_of(body, OFF, "p, q, r"))
    assert found == [("c + d", RULE_MERGES_OFF, False, "convolutions 2, channels 16"), refused]
    assert merge_decisions(graph_of_branches("p = Conv(x, w1) q = Conv(y, w1)")) == ()


def test_runs_of_a_comparison_share_layers_and_the_plain_graph() -> None:
    """Only runs with the option have the merged graph; whatever its place among the others."""
    asked = [
        RunRequest("branches", strategy, "generic-4x4", 4, options=options)
        for strategy, options in (
            ("tvm", {}), ("tensorrt-like", {}), ("tensorrt-like", OFF), ("layerwise", {}),
            ("tensorrt-like", {}),
        )
    ]  # fmt: skip
    data = branches_file(TWO)
    reports = list(run_reports(data, asked))
    assert [report.contract["kernels"] for report in reports] == [2, 1, 2, 4, 1]
    tables = [
        [
            (row["index"], row["name"], row["op_types"], row["model_macs"])
            for row in report.tables["layers"]
        ]
        for report in reports
    ]
    macs = [4 * 81 * 8 * channels for channels in (6, 10)]
    assert tables == [[(0, "c", "Conv+Relu", macs[0]), (1, "d", "Conv+Relu", macs[1])]] * len(asked)
    for key in ("macs", "lower_bound_s", "sub_graphs_fine", "compulsory_dram_bytes"):
        assert len({report.contract[key] for report in reports}) == 1, key
    imports = Imports(data)
    graphs = [imports.whole(request) for request in asked]
    assert graphs[0] is graphs[2] is graphs[3] and graphs[1] is graphs[4]
    assert graphs[1].undecomposed is graphs[0]


def test_every_strategy_has_the_same_layers() -> None:
    names = [name for name, each in STRATEGIES.items() if not each.is_search]
    asked = [RunRequest("branches", name, "generic-4x4", 4) for name in names]
    found = {
        name: [(r["name"], r["op_types"], r["model_macs"]) for r in report.tables["layers"]]
        for name, report in zip(names, run_reports(branches_file(TWO), asked), strict=True)
    }
    assert set(map(str, found.values())) == {str(found["tvm"])}


def test_a_merged_input_is_read_once() -> None:
    """Both convolutions read `x`: 8 channels of 9 x 9, two samples, two bytes per element."""
    loads = [_input_bytes(report_of(TWO, options)) for options in ({}, OFF)]
    assert loads[1] - loads[0] == 2 * 8 * 81 * 2


def _input_bytes(report: Report) -> int:
    ledger: dict[str, int] = dict(report.contract["dram_ledger"])  # type: ignore[call-overload]
    return ledger["input"] + ledger["activation"] + ledger["halo"]


def test_two_runs_are_equal() -> None:
    request = RunRequest("branches", "tensorrt-like@1", "goya", 4, emit=("plan", "program"))
    first, second = (run_report(branches_file(TWO), request) for _ in range(2))
    assert first.text("plan") == second.text("plan")
    assert first.text("program") == second.text("program")


def test_its_plan_is_run_again() -> None:
    request = RunRequest("branches", "tensorrt-like@1", "generic-4x4", 4, emit=("plan",))
    data = branches_file(TWO)
    first = run_report(data, request)
    again = replace(request, emit=(), plan=first.text("plan"))
    second = run_report(data, again)
    assert second.contract["cycles"] == first.contract["cycles"]
    assert merges(second) == merges(first)


@pytest.mark.parametrize("profile", ["stcp920", "goya", "ascend910", "ipu-gc2"])
@pytest.mark.parametrize("cluster_batch", [1, 3])
def test_other_chips_and_rounds_replay(profile: str, cluster_batch: int) -> None:
    strategy = f"tensorrt-like@{cluster_batch}"
    request = RunRequest("branches", strategy, profile, 7, verify=True)
    contract = run_report(branches_file(TWO), request).contract
    assert dict(contract["verify"])["ok"]  # type: ignore[call-overload]


GOOGLENET = RunRequest("light-inception_v1", "tensorrt-like@1", "goya", 1, has_pictures=False)


def test_each_module_of_googlenet_has_three_branches_that_are_one() -> None:
    """Nine modules; the fourth branch reads a pool. Two kernels less per module.

    One less where the concatenation has the four ends of the branches in its kernel: the merged
    convolution, which is one of these ends, has a kernel of its own.
    """
    data = load_sample(GOOGLENET.model_name)
    options = [{}, OFF, APART, {**OFF, **APART}]
    runs = [replace(GOOGLENET, options=each) for each in options]
    merging, plain, *apart = run_reports(data, runs)
    assert [taken for _, _, taken, _ in merges(merging)] == [True] * 9 * 2
    assert [taken for _, _, taken, _ in merges(plain)] == [False] * 9 * 2
    kernels = [int(str(each.contract["kernels"])) for each in (merging, plain, *apart)]
    assert (kernels[1] - kernels[0], kernels[3] - kernels[2]) == (9, 9 * 2)
    assert kernels[2] - kernels[0] == 9 * 3, "three ends of branches per module"
    assert merging.contract["sub_graphs_fine"] == plain.contract["sub_graphs_fine"]


@pytest.mark.slow
def test_googlenet_replays() -> None:
    contract = run_report(
        load_sample(GOOGLENET.model_name), replace(GOOGLENET, verify=True)
    ).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
