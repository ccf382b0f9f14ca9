"""RNN, GRU and LSTM written out per time step: every form and size, replayed on every chip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.pipeline import RunRequest, run_reports
from tests.full import IS_FULL
from tests.models import imported, op_types
from tests.soundness import check_right, check_sound
from tests.verify import recurrent_table
from tests.verify.models.recurrent import (
    DIRECTIONS,
    GATES,
    HIDDEN,
    LARGE_CHIPS,
    STRATEGIES,
    Form,
    Size,
    all_sizes,
    model_of,
    sized,
    some_sizes,
)
from tests.verify.small_samples import chips_with_room


def check_replays(form: Form, chip: str, strategies: tuple[str, ...] = STRATEGIES) -> None:
    """Every strategy computes what ONNX Runtime does, and the op is written out."""
    requests = [RunRequest("recurrent", name, chip, None, verify=True) for name in strategies]
    assert form.kind not in op_types(imported(model_of(form))).split()
    for report in run_reports(model_of(form), requests):
        check_right(report)
        check_sound(report)


FORMS = {
    "rnn": Form("RNN"),
    "rnn backwards without bias": Form("RNN", given="", attributes={"direction": "reverse"}),
    "rnn of two functions, both ways": Form(
        "RNN", directions=2, given="Bh",
        attributes={"activations": ["Relu", "Affine"], "activation_alpha": [0.5],
                    "activation_beta": [0.1]},
    ),
    "rnn clipped": Form("RNN", given="Bh", attributes={"clip": 0.3}),
    "gru": Form("GRU"),
    "gru without bias": Form("GRU", given="h"),
    "gru, late reset": Form("GRU", attributes={"linear_before_reset": 1}),
    "gru, late reset, without bias": Form("GRU", given="", attributes={"linear_before_reset": 1}),
    "gru, late reset, first state, both ways": Form(
        "GRU", directions=2, given="Bh", attributes={"linear_before_reset": 1}
    ),
    "gru of other functions": Form(
        "GRU", attributes={"activations": ["HardSigmoid", "ScaledTanh"],
                           "activation_alpha": [0.25, 1.5], "activation_beta": [0.4, 0.5]},
    ),
    "gru with lengths, both ways": Form("GRU", directions=2, given="Blh"),
    "gru clipped": Form("GRU", attributes={"clip": 0.2}),
    "lstm": Form("LSTM"),
    "lstm backwards with states": Form("LSTM", given="Bhc", attributes={"direction": "reverse"}),
    "lstm with peepholes": Form("LSTM", given="BhcP"),
    "lstm with peepholes alone": Form("LSTM", given="P"),
    "lstm, coupled gates": Form("LSTM", given="Bhc", attributes={"input_forget": 1}),
    "lstm clipped": Form("LSTM", given="Bhc", attributes={"clip": 0.1}),
    "lstm clipped with peepholes": Form("LSTM", given="BhcP", attributes={"clip": 0.1}),
    "lstm with lengths": Form("LSTM", given="Bl"),
    "lstm with lengths, states, both ways": Form("LSTM", directions=2, given="BlhcP"),
    "lstm, last cell alone": Form("LSTM", directions=2, outputs="c"),
    "lstm, last state alone": Form("LSTM", outputs="h", given="Bl"),
    "lstm, all states alone": Form("LSTM", outputs="y", directions=2, samples=1),
    "lstm of other functions": Form(
        "LSTM", attributes={"activations": ["Elu", "LeakyRelu", "Softsign"],
                            "activation_alpha": [0.5, 0.1]},
    ),
    "lstm of functions without numbers": Form(
        "LSTM", attributes={"activations": ["HardSigmoid", "Softplus", "Elu"]}
    ),
    "lstm of a threshold": Form(
        "LSTM", attributes={"activations": ["LeakyRelu", "Softsign", "ThresholdedRelu"],
                            "activation_alpha": [0.3, 0.2]},
    ),
    "one step": Form("LSTM", steps=1),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_what_onnx_runtime_computes(name: str) -> None:
    check_replays(FORMS[name], "generic-4x4")


FEW_STEPS = 4
"""The state is handed on three times; each step takes a second on these chips."""
KINDS = [("LSTM", 2), ("GRU", 1), ("RNN", 2)]


@pytest.mark.parametrize(("kind", "directions"), KINDS)
def test_64_units_replay(kind: str, directions: int) -> None:
    """On the other chips: docs/recurrent.md."""
    check_replays(sized(kind, 64, directions), "goya")


def test_a_gru_of_256_units_replays() -> None:
    """Its weights are more than half an LB of the chip's."""
    check_replays(sized("GRU", 256, 1), "generic-4x4")


@pytest.mark.slow
@pytest.mark.parametrize("size", list(some_sizes()), ids=lambda size: size.name)
def test_a_size_of_each_replays(size: Size) -> None:
    """On chips of many cores in few steps: docs/recurrent.md has all of them."""
    is_shortened = size.chip in LARGE_CHIPS and not IS_FULL
    form = replace(size.form, steps=FEW_STEPS) if is_shortened else size.form
    check_replays(form, size.chip)


@pytest.mark.slow
def test_three_seconds_of_speech_replay() -> None:
    """300 steps of a GRU of 256 units, one after the other, on the paper's chip."""
    check_replays(replace(sized("GRU", 256, 1), steps=300), "stcp920", ("graphturbo",))


def test_every_size_kind_and_chip_is_among_some() -> None:
    """docs/recurrent.md has the whole sweep."""
    some = list(some_sizes())
    assert len(some) == len(set(some)) == len(HIDDEN) + len(LARGE_CHIPS)
    assert {each.hidden for each in some} == set(HIDDEN)
    assert {each.kind for each in some} == set(GATES)
    assert {each.directions for each in some} == set(DIRECTIONS)
    assert {each.chip for each in some} == set(chips_with_room())
    assert len(all_sizes()) == 5 * 30 + 6


def test_the_page_has_every_size_and_is_right() -> None:
    text = recurrent_table.PAGE.read_text(encoding="utf-8")
    for chip in chips_with_room():
        for kind in GATES:
            for ways in DIRECTIONS:
                start = f"| {chip} | {kind} | {ways} |"
                (line,) = (line for line in text.splitlines() if line.startswith(start))
                cells = [cell.strip() for cell in line.strip("|").split("|")[3:]]
                asked = [h for h in HIDDEN if Size(chip, kind, h, ways) in all_sizes()]
                assert len(cells) == len(HIDDEN)
                assert all(float(cell) < 1e-5 for cell in cells[: len(asked)])
                assert set(cells[len(asked) :]) <= {""}
