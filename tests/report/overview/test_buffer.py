"""The buffer of the first screen: its figures are the reports', whatever the names say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.overview.buffer import (
    ENGINE_KINDS,
    FULL_LINK,
    NO_LAYER,
    overview_buffer,
)
from graphturbo_core.report.report import Report
from tests.models import model_bytes
from tests.report.overview.reports import report_of
from tests.ui.unpacking import unpack

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]
PAIR = ("tvm@2", "graphturbo@5")
"""Eight rounds of two samples; three of five and one of one."""


def unpacked(*strategies: str, **more: Any) -> tuple[Header, Arrays]:
    return unpack(overview_buffer(*map(report_of, strategies), **more))  # type: ignore[return-value]


@pytest.fixture(params=range(2), ids=PAIR)
def run(request: pytest.FixtureRequest) -> tuple[Report, Header, Arrays]:
    """A run's report, its header and its arrays without the prefix."""
    number = request.param
    header, arrays = unpacked(*PAIR)
    own = {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(f"{number}.")}
    return report_of(PAIR[number]), header["runs"][number], own


def test_figures_of_a_run_are_its_contract_s(run: tuple[Report, Header, Arrays]) -> None:
    report, header, _ = run
    contract = report.contract
    for key in ("strategy", "latency_s", "cluster_batch"):
        assert header[key] == contract[key]
    assert header["per_s"] == contract["throughput_per_s"]
    assert header["dram_bytes"] == contract["dram_read_bytes"] + contract["dram_write_bytes"]
    assert header["bound_share"] * header["latency_s"] == pytest.approx(contract["lower_bound_s"])
    in_flight = contract["overlap"]["layers_in_flight"]
    assert header["in_flight"] == {key: in_flight[key] for key in ("mean", "share")}
    assert header["kernels"] == len(report.tables["kernels"]) * contract["rounds"]
    rounds = header["sequence"]
    assert sum(row["count"] * row["samples"] for row in rounds) * 4 == contract["batch"]
    cycles = sum(row["count"] * row["cycles"] for row in rounds)
    assert cycles * header["seconds_per_cycle"] == pytest.approx(contract["latency_s"])
    assert sum(header["hue_cycles"]) == pytest.approx(header["cycles"])


def test_instructions_are_the_report_s_in_order_of_start(
    run: tuple[Report, Header, Arrays],
) -> None:
    report, header, found = run
    arrays = report.arrays
    order = np.argsort(arrays["start"], kind="stable")
    assert np.array_equal(found["start"], arrays["start"][order])
    assert np.array_equal(found["hold"], arrays["hold"][order])
    kinds = [ENGINE_KINDS.index(row["kind"]) for row in report.tables["engines"]]
    assert found["kind"].tolist() == [kinds[engine] for engine in arrays["engine"][order]]
    layers = np.where(found["layer"] == NO_LAYER, -1, found["layer"].astype(int))
    assert np.array_equal(layers, arrays["layer"][order])
    # Busy cycles over all engines of a kind are its utilisation: of the drawn round alone.
    if len(report.tables["rounds"]) == 1:
        (whole,) = report.tables["round"]
        load = found.get("load", np.ones(len(found["hold"])))
        for number, kind in enumerate(ENGINE_KINDS):
            busy = (found["hold"] * load)[found["kind"] == number].sum()
            engines = sum(r["cores"] for r in report.tables["engines"] if r["kind"] == kind)
            share = busy / engines / whole["cycles"]
            assert share == pytest.approx(report.contract["utilization"][kind], rel=1e-3)
            assert header["busy"][kind] == report.contract["utilization"][kind]


def test_the_link_is_as_full_as_the_bytes_need(run: tuple[Report, Header, Arrays]) -> None:
    report, header, found = run
    per_s = report.tables["roofs"][0]["dram_bytes_per_s"]
    booked = report.arrays["booked_memory"] == 0
    size = int(report.arrays["booked_bytes"][booked].sum())
    held_s = found["hold"].astype(float) * header["seconds_per_cycle"]
    drawn = float((found["link"] / FULL_LINK * held_s).sum()) * per_s
    # Shares are rounded up to 1/255 of an instruction, and capped at the whole link.
    assert drawn == pytest.approx(size, rel=0.02)
    needed_s = header["dram_bytes"] / (4 * per_s)
    assert header["link_busy"] == pytest.approx(needed_s / header["latency_s"])


def test_clusters_without_samples_do_not_count_for_the_drawn_one() -> None:
    data = load_sample("teaching-resnet")
    report = run_report(data, RunRequest("teaching-resnet", "tvm", "generic-4x4", batch=1))
    header, arrays = unpack(overview_buffer(report))
    (run,) = header["runs"]
    assert run["idle_clusters"] == 3
    utilization = report.contract["utilization"]
    assert run["busy"]["matrix"] == pytest.approx(4 * utilization["matrix"])
    held_s = arrays["0.hold"].astype(float) * run["seconds_per_cycle"]
    drawn_s = float((arrays["0.link"] / FULL_LINK * held_s).sum())
    assert run["link_busy"] * run["latency_s"] == pytest.approx(drawn_s, rel=0.02)


def test_a_batch_that_is_not_divided_is_one_cluster_s() -> None:
    text = "g (float[4,16,8,8] x) => (float[4,16,8,8] y) { y = Softmax<axis = 0>(x) }"
    report = run_report(model_bytes(text), RunRequest("m", "tvm", "generic-4x4", batch=4))
    (run,) = unpack(overview_buffer(report))[0]["runs"]  # type: ignore[index,misc]
    assert run["idle_clusters"] == 3
    vector = report.contract["utilization"]["vector"]
    assert run["busy"]["vector"] == pytest.approx(4 * vector)


def test_layers_and_kernels_are_the_tables_rows(run: tuple[Report, Header, Arrays]) -> None:
    report, header, found = run
    for name in ("lb_peak_bytes", "lb_mean_bytes", "gb_peak_bytes", "dram_bytes"):
        assert found[f"layer_{name}"].tolist() == [row[name] for row in report.tables["layers"]]
    assert found["op_layer"].tolist() == [row["layer"] for row in report.tables["graph_nodes"]]
    of_layers = 1 - header["hue_cycles"][-1] / header["cycles"]
    assert found["layer_run_s"].sum() == pytest.approx(of_layers * header["latency_s"])
    kernels = report.tables["kernels"]
    assert found["kernel_from"].tolist() == [row["start_cycle"] for row in kernels]
    assert found["kernel_to"].tolist() == [row["end_cycle"] for row in kernels]
    names = [header["groups"][group]["name"] for group in found["kernel_group"]]
    assert names == [row["group"] for row in kernels]
    for row, group in zip(report.tables["groups"], header["groups"], strict=True):
        assert group["whole_bytes"] == row["peak_bytes"]
        assert len(group["layers"]) == row["layers"]
        assert (group["ops"], group["pieces"]) == (row["ops"], row["pieces"])
    assert sum(group["ops"] for group in header["groups"]) == len(report.tables["graph_nodes"])


def test_sub_graphs_of_b_have_titles_and_no_internal_names() -> None:
    header, _ = unpacked(*PAIR)
    a, b = header["runs"]
    assert all(group["title"] for group in b["groups"])
    assert not {group["title"] for group in b["groups"]} & {group["name"] for group in b["groups"]}
    assert {group["title"] for group in a["groups"]} == {""}


def test_what_is_too_large_and_not_split_goes_via_dram() -> None:
    """Of each sub-graph: activations over DRAM, one piece, and more bytes than all LBs have."""
    for profile in ("stcp920", "generic-4x4", "goya"):
        report = report_of("graphturbo@16", profile=profile)
        (run,) = unpack(overview_buffer(report))[0]["runs"]  # type: ignore[index,misc]
        kinds = [row["kind"] for row in report.tables["tensors"]]
        moved = set()
        for row, memory in zip(
            report.arrays["booked_instruction"].tolist(),
            report.arrays["booked_memory"].tolist(),
            strict=True,
        ):
            tensor, kernel = (int(report.arrays[n][row]) for n in ("moved_tensor", "kernel"))
            if not memory and tensor >= 0 and kinds[tensor] == "activation":
                moved.add(report.tables["kernels"][kernel]["group"])
        numbers = {row["key"]: row["value"] for row in report.tables["chip"]}
        room = report.contract["lb"]["capacity_bytes"] * int(numbers["cluster.cores"])
        for group in run["groups"]:
            is_large = group["pieces"] == 1 and group["whole_bytes"] > room
            assert group["is_via_dram"] == (is_large and group["name"] in moved)


def test_the_model_s_graph_and_chip_are_the_report_s() -> None:
    header, _ = unpacked(*PAIR)
    report = report_of(PAIR[1])
    nodes = report.tables["graph_nodes"]
    assert [layer for _, layer in header["ops"]] == [row["layer"] for row in nodes]
    marks = {row["op_type"]: mark for row, (mark, _) in zip(nodes, header["ops"], strict=True)}
    assert (marks["Conv"], marks["Add"], marks["Relu"]) == ("square", "plus", "dot")
    for edge in report.tables["graph_edges"]:
        if edge["source"] >= 0:
            pair = [nodes[edge["source"]]["layer"], nodes[edge["target"]]["layer"]]
            assert pair[0] == pair[1] or pair in header["edges"]
    assert header["chip"]["clusters"] == 4
    assert header["chip"]["lb_bytes"] == report.contract["lb"]["capacity_bytes"]
    assert 0 < header["chip"]["lb_data_bytes"] < header["chip"]["lb_bytes"]
    assert header["bound_s"] == report.contract["lower_bound_s"]
    assert header["noun"] == "image"
    assert header["headline"].startswith("Coarse is ")


def test_engines_count_those_that_one_row_stands_for() -> None:
    report = report_of("graphturbo@5")
    rows = tuple({**row, "cores": 3} for row in report.tables["engines"])
    header, _ = unpack(overview_buffer(replace(report, tables={**report.tables, "engines": rows})))
    runs: Any = header["runs"]
    # 8 cores and 2 system DMAs, each for three.
    assert runs[0]["engines"] == {"matrix": 24, "vector": 24, "move": 24, "dma": 6}


def test_what_a_person_named_is_shown_as_told() -> None:
    shown: list[str] = []

    def show(text: str) -> str:
        shown.append(text)
        return f"<{text}>"

    header, _ = unpacked(*PAIR, show=show)
    assert header["model"] == "<teaching-resnet>"
    assert header["profile"] == "<stcp920>"
    named = [*header["layers"], *header["runs"][0]["groups"]]
    assert all(row["name"].startswith("<") for row in named)
    titles = [row["title"] for row in header["stages"]] + header["hues"]["titles"]
    assert all(title.startswith("<") for title in titles)
    assert all(run["strategy"].startswith("<") for run in header["runs"])
    names = {row["name"] for row in report_of(PAIR[1]).tables["layers"]}
    assert names <= set(shown)


def test_one_run_alone_is_b_of_itself() -> None:
    header, arrays = unpacked("graphturbo@5", extra={"names": "A"})
    assert len(header["runs"]) == 1
    assert (header["headline"], header["names"]) == ("", "A")
    assert {name.partition(".")[0] for name in arrays} == {"0"}
    both, _ = unpacked(*PAIR)
    assert header["callout"] == both["callout"]
    assert set(header) == set(both) | {"names"}
