"""RNN, GRU and LSTM written out per time step: every form and size, replayed on every chip."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.pipeline import RunRequest, profile_names, run_reports
from tests.models import imported, op_types
from tests.test_soundness import check_sound
from tests.verify.test_samples import check_right

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STRATEGIES = ("tvm", "graphturbo")
SMALL_CHIP, SMALL_CHIP_UNITS = "ipu-gc2", 64


@dataclass(frozen=True)
class Form:
    """A recurrent op: its sizes, attributes, and which optional inputs and outputs it has."""

    kind: str
    hidden: int = 8
    directions: int = 1
    steps: int = 5
    samples: int = 3
    width: int = 6
    given: str = "B"
    """Optional inputs among B, l (lengths), h, c (first states) and P."""
    outputs: str = "yhc"
    attributes: dict[str, object] = field(default_factory=dict, hash=False)


def model_of(form: Form) -> bytes:
    """The op alone, with seeded weights; input, first states and lengths are inputs."""
    rows, ways = GATES[form.kind] * form.hidden, form.directions
    generator = np.random.default_rng(form.hidden)
    states = (ways, form.samples, form.hidden)
    shapes = {"W": (ways, rows, form.width), "R": (ways, rows, form.hidden),
              "B": (ways, 2 * rows), "P": (ways, 3 * form.hidden)}  # fmt: skip
    weights = [
        numpy_helper.from_array(
            generator.normal(0, form.hidden**-0.5, shape).astype(np.float32), name
        )
        for name, shape in shapes.items()
        if name in f"WR{form.given}"
    ]
    inputs = [_float("x", (form.steps, form.samples, form.width))]
    if "l" in form.given:
        inputs.append(helper.make_tensor_value_info("l", TensorProto.INT32, [form.samples]))
    inputs += [_float(name, states) for name in "hc" if name in form.given]
    places = "WRBlhcP" if form.kind == "LSTM" else "WRBlh"
    names = [name if name in f"WR{form.given}" else "" for name in places]
    results = {"y": (form.steps, *states[:1], *states[1:]), "h": states, "c": states}
    used = [f"out_{name}" if name in form.outputs else "" for name in results]
    used = used[: 3 if form.kind == "LSTM" else 2]
    wanted = [_float(f"out_{n}", shape) for n, shape in results.items() if f"out_{n}" in used]
    two = {"direction": "bidirectional"} if ways > 1 else {}
    node = helper.make_node(
        form.kind, ["x", *names], used, hidden_size=form.hidden, **{**two, **form.attributes}
    )
    graph = helper.make_graph([node], "g", inputs, wanted, weights)
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _float(name: str, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


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


def sized(kind: str, hidden: int, directions: int) -> Form:
    """16 time steps of one sample."""
    return Form(kind, hidden, directions, steps=16, samples=1, width=hidden)


KINDS = [("LSTM", 2), ("GRU", 1), ("RNN", 2)]


@pytest.mark.parametrize(("kind", "directions"), KINDS)
@pytest.mark.parametrize("chip", ["stcp920", "goya"])
def test_64_units_replay(kind: str, directions: int, chip: str) -> None:
    check_replays(sized(kind, 64, directions), chip)


def test_a_gru_of_256_units_replays() -> None:
    """Its weights are more than half an LB of the chip's."""
    check_replays(sized("GRU", 256, 1), "generic-4x4")


@pytest.mark.slow
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("hidden", [64, 128, 256, 512, 1024])
@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("chip", profile_names())
def test_all_sizes_replay(kind: str, hidden: int, directions: int, chip: str) -> None:
    if chip == SMALL_CHIP and hidden > SMALL_CHIP_UNITS:
        pytest.skip("its cores have 256 KiB each")
    check_replays(sized(kind, hidden, directions), chip)
