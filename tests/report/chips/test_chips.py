"""A chip's parts, figures and sentence; generic-4x4 worked out by hand."""

from __future__ import annotations

import pytest

from graphturbo_core.hardware.edits import edit_chip, editable_keys
from graphturbo_core.hardware.profile import load_profile, profile_names
from graphturbo_core.report.chips.chip_parts import LABELS, PARTS, chip_parts, numbers_of
from graphturbo_core.report.chips.chip_text import compare_text, one_text, ratio_text
from graphturbo_core.report.chips.chip_view import chip_view
from graphturbo_core.report.chips.derived import FIGURES, derived_figures

GENERIC = load_profile("generic-4x4")


def test_every_key_of_the_schema_has_a_part_and_a_label():
    assert list(LABELS) == list(editable_keys())
    assert {part for part, _ in LABELS.values()} | {"core"} == set(PARTS)


@pytest.mark.parametrize("name", profile_names())
def test_every_number_of_a_chip_stands_in_one_part(name: str):
    hardware = load_profile(name)
    shown = [number.key for part in chip_parts(hardware) for number in part.numbers]
    assert sorted(shown) == sorted(number.key for number in hardware.numbers)
    by_key = numbers_of(chip_parts(hardware))
    for number in hardware.numbers:
        assert by_key[number.key].source == number.source
        assert by_key[number.key].is_assumption == number.is_assumption


def test_counts_of_parts():
    counts = {part.name: part.count for part in chip_parts(GENERIC)}
    assert counts["dram"] == counts["cluster"] == 4
    assert counts["lb"] == counts["core"] == 4 * 4
    assert counts["dma"] == 4 * 2
    goya = {part.name: part.count for part in chip_parts(load_profile("goya"))}
    assert goya["matrix"] == 1  # one engine for all 8 cores
    assert goya["vector"] == 8


def test_texts_have_units():
    found = numbers_of(chip_parts(GENERIC))
    assert found["core.lb_data_bytes"].text == "192 KiB"
    assert found["core.lb_data_bytes"].exact == "196,608 bytes"
    assert found["cluster.dram_bandwidth_bytes_per_s"].text == "16 GB/s"
    assert found["kernel.launch_cycles"].text == "2,000 cycles"
    assert found["core.matrix_rate.int8"].text == "2×"
    assert found["core.matrix_model"].text == "passes"


def test_figures_of_the_teaching_chip():
    found = {figure.name: figure for figure in derived_figures(GENERIC, "fp16")}
    assert tuple(found) == FIGURES
    assert found["cores"].value == 16
    # 16 engines x 32 x 32 MAC = 16,384 MAC per cycle; x 2 x 1 GHz.
    assert found["peak"].value == 16_384 * 2 * 10**9
    assert found["peak"].text == "32.8 TFLOP/s"
    assert "16 matrix engines × 1,024 MAC per cycle = 16,384" in found["peak"].arithmetic
    # 4 clusters x (4 cores x (192 + 64) KiB + 2 MiB) = 4 x 3 MiB.
    assert found["on_chip"].text == "12 MiB"
    assert found["dram"].text == "64 GB/s"
    # A cluster: 4 x 1,024 MAC x 1 GHz over 16 GB/s, over 128 GB/s; a core: 1,024 over 256 B.
    assert found["per_dram_byte"].value == 256
    assert found["per_gb_byte"].value == 32
    assert found["per_lb_byte"].value == 4
    assert all(figure.is_assumption for figure in found.values())


def test_a_rate_of_a_number_format_counts():
    peaks = {name: chip_view(GENERIC, name).figures[1] for name in ("fp16", "int8")}
    assert peaks["int8"].value == 2 * peaks["fp16"].value
    assert peaks["int8"].text == "65.5 TOP/s"
    assert "core.matrix_rate.int8" in peaks["int8"].keys


def test_figures_that_a_chip_cannot_have():
    assert "per_gb_byte" not in {f.name for f in derived_figures(load_profile("ipu-gc2"), "fp16")}
    assert "per_lb_byte" not in {f.name for f in derived_figures(load_profile("goya"), "fp16")}


def test_a_figure_of_sourced_numbers_becomes_an_assumption_by_an_edit():
    hardware = load_profile("stcp920")
    assert not derived_figures(hardware, "fp16")[3].is_assumption
    key = "cluster.dram_bandwidth_bytes_per_s"
    edited = edit_chip("stcp920", None, {key: "54 GB/s"}).hardware
    figure = derived_figures(edited, "fp16")[3]
    assert figure.text == "216 GB/s"
    assert figure.is_assumption


@pytest.mark.parametrize(
    ("value", "base", "text"),
    [(2, 1, "2×"), (1, 4, "0.25×"), (3, 3, "equal"), (1, 0, ""), (0, 1, "")],
)
def test_ratios(value: float, base: float, text: str):
    assert ratio_text(value, base) == text


def test_sentences():
    generic, stcp = (chip_view(load_profile(name), "fp16") for name in ("generic-4x4", "stcp920"))
    # 131,072 / 32,768 = 4; 72 / 12 MiB = 6; 108 / 64 GB/s = 1.69.
    assert compare_text(stcp.name, stcp.figures, generic.name, generic.figures) == (
        "stcp920 against generic-4x4: 4× the peak, 6× the on-chip memory, 1.69× the DRAM bandwidth"
    )
    assert compare_text("a", stcp.figures, "b", stcp.figures) == (
        "a and b: equal peak, on-chip memory and DRAM bandwidth"
    )
    assert one_text(generic.name, generic.figures) == (
        "generic-4x4: 32.8 TFLOP/s on 64 GB/s of DRAM, 256 MAC per DRAM byte"
    )


def test_a_pool_counts_once():
    shape = chip_view(load_profile("goya"), "fp16").shape
    assert shape.lb_bytes == 80 * 1024
    assert chip_view(GENERIC, "fp16").shape.lb_bytes == (192 + 64) * 1024
