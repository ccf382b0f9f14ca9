"""The whole of verification: right runs, a wrong op found by name, shares and rounds joined."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import onnx
import pytest

from graphturbo_core.errors import ModelError, OptionError
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.verify import single_op
from graphturbo_core.verify.local import LocalOperand, TileTask, tile_result
from graphturbo_core.verify.replay import reference
from graphturbo_core.verify.replay import replay as replay_module
from graphturbo_core.verify.single_op import Array, OpRunner
from tests.models import model_bytes, model_of

CHAIN = """chain (float[7, 4, 8, 8] x, float[4, 4, 3, 3] w) => (float[7, 4, 8, 8] y)
    { a = Conv <pads = [1,1,1,1]> (x, w) y = Relu(a) }"""
FIXED = CHAIN.replace("float[7, 4, 8, 8] x, float[4, 4, 3, 3] w", "float[7, 4, 8, 8] x").replace(
    "{ a", "<float[4, 4, 3, 3] w = {" + ",".join(["0.5", "-1"] * 72) + "}> { a"
)


def verified(
    text: str, strategy: str = "graphturbo", batch: int | None = None
) -> dict[str, object]:
    request = RunRequest("test", strategy, "generic-4x4", batch, verify=True)
    return dict(run_report(model_bytes(text), request).contract["verify"])  # type: ignore[call-overload]


@pytest.mark.parametrize("strategy", ["layerwise", "tvm@1", "graphturbo:order@1"])
def test_shares_and_rounds_are_joined_in_order(strategy: str) -> None:
    """Seven samples on four clusters: shares of 2, 2, 2 and 1, one a round: seven."""
    found = verified(FIXED, strategy)
    assert found["ok"], found
    assert found["rounds"] == (7 if "@1" in strategy else 4)
    (row,) = found["outputs"]
    assert row["shape"] == [7, 4, 8, 8]
    assert row["max_abs_error"] <= row["tolerance"] < 1e-3


def test_a_fixed_file_is_compared_batch_by_batch() -> None:
    """The file's batch is 7; 14 samples are two batches, 10 are no multiple."""
    assert verified(FIXED, batch=14)["ok"]
    with pytest.raises(ModelError, match="fixed at 7") as caught:
        verified(FIXED, batch=10)
    assert caught.value.change == "choose a multiple of 7"


def test_the_first_wrong_instruction_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The convolution adds one to the last row of what it computes, from the second core on."""

    def wrong(task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner) -> Array:
        result = np.array(tile_result(task, operands, runner))
        if task.op.op_type == "Conv" and task.box[2][1] == 8:
            result[..., -1, 0] += 1
        return result

    monkeypatch.setattr(replay_module, "tile_result", wrong)
    found = verified(FIXED, "layerwise")
    assert not found["ok"]
    fault = found["fault"]
    assert isinstance(fault, dict)
    assert fault["rule"] == "RESULT"
    assert fault["tensor"] == "a"
    assert fault["box"][2][1] == 8
    assert fault["got"] == pytest.approx(fault["expected"] + 1, abs=1e-4)
    assert fault["core"] >= 0
    assert fault["cycle"] > 0


def test_a_small_error_within_the_tolerance_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """36 products an element and a bias: 37 roundoffs, doubled; half of one is no fault."""

    def nudged(task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner) -> Array:
        return np.asarray(tile_result(task, operands, runner) * np.float32(1 + 2**-24))

    monkeypatch.setattr(replay_module, "tile_result", nudged)
    assert verified(FIXED)["ok"]


def test_a_batch_that_is_one_sample_is_replayed_whole() -> None:
    """A softmax over the leading axis: divided over clusters it would be wrong."""
    text = "g (float[8, 4] x) => (float[8, 4] y) { y = Softmax <axis = 0> (x) }"
    found = verified(text)
    assert found["ok"]
    assert found["rounds"] == 1


def test_a_weight_as_an_input_is_drawn() -> None:
    assert verified(CHAIN)["ok"]


def test_a_file_of_a_version_that_the_runtime_does_not_read() -> None:
    """The newest that onnx writes; ONNX Runtime is behind, though its ops are the same."""
    model = model_of(FIXED)
    model.ir_version = onnx.IR_VERSION
    request = RunRequest("test", "tvm", "generic-4x4", verify=True)
    assert run_report(model.SerializeToString(), request).contract["verify"]["ok"]  # type: ignore[index,call-overload]


def test_a_refusal_has_the_end_of_the_runtimes_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "IR_VERSION", 100)
    model = model_of(FIXED)
    model.ir_version = 99
    request = RunRequest("test", "tvm", "generic-4x4", verify=True)
    with pytest.raises(ModelError, match="Unsupported model IR version: 99, max"):
        run_report(model.SerializeToString(), request)


def test_without_the_runtime_only_replay_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(OptionError, match="replay needs ONNX Runtime"):
        single_op.load_runtime()
    report = run_report(model_bytes(FIXED), RunRequest("test", "tvm", "generic-4x4"))
    assert report.contract["verify"]["ran"] is False  # type: ignore[index]
