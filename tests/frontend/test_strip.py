"""Structure without weights: what goes, what stays, and that the schedule is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.cli import main
from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.parse.proposals import proposed_sizes
from graphturbo_core.frontend.strip import COMMENTS, STRIPPED, strip_weights
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import RunRequest, run_report

SECRET = np.full((64, 64), 0.625, np.float32)
BRANCH_SECRET = np.full((4, 64, 2), 0.375, np.float32)


def initializer(name: str, value: np.ndarray) -> TensorProto:
    proto = numpy_helper.from_array(value, name)
    proto.doc_string = "from /home/somebody/model.py"
    return proto


def branch(name: str, constant: np.ndarray) -> onnx.GraphProto:
    node = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(constant))
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, 1, None)])


def model(is_true: bool = True) -> onnx.ModelProto:
    """y = (x W + C), reshaped by a constant; W an initializer, C in a Constant node, If inside."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], "first", "line 12 of model.py"),
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(SECRET[:8])),
        helper.make_node("Add", ["product", "c"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["folded"]),
        helper.make_node(
            "If", ["flag"], ["chosen"],
            then_branch=branch("a", BRANCH_SECRET), else_branch=branch("b", BRANCH_SECRET),
        ),
        helper.make_node("Mul", ["folded", "chosen"], ["y"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", 1, [8, 64])],
        [helper.make_tensor_value_info("y", 1, [4, 64, 2])],
        [
            initializer("w", SECRET),
            initializer("shape", np.array([4, 64, 2])),
            initializer("flag", np.array(is_true)),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(made, {"source": "/home/somebody"})
    return made


def test_no_number_of_a_weight_and_no_comment_is_left() -> None:
    data = model().SerializeToString()
    assert SECRET[0].tobytes() in data
    assert BRANCH_SECRET[0].tobytes() in data
    stripped = strip_weights(data, DEFAULT_LIMITS)
    assert np.float32(0.625).tobytes() * 2 not in stripped.data
    assert np.float32(0.375).tobytes() * 2 not in stripped.data
    assert b"somebody" not in stripped.data
    assert b"model.py" not in stripped.data
    # w 64 x 64 and c 8 x 64 floats, two branches of 4 x 64 x 2; shape and flag stay.
    assert (stripped.removed, stripped.removed_bytes) == (4, 4 * (4096 + 512 + 2 * 512))
    assert (stripped.kept, stripped.absent) == (2, 0)


def test_shapes_stay_and_weights_point_to_a_file_that_does_not_exist() -> None:
    found = onnx.load_model_from_string(
        strip_weights(model().SerializeToString(), DEFAULT_LIMITS).data
    )
    protos = {proto.name: proto for proto in found.graph.initializer}
    assert sorted(protos) == ["c", "flag", "shape", "w"]
    assert numpy_helper.to_array(protos["shape"]).tolist() == [4, 64, 2]
    for name, dims in (("w", [64, 64]), ("c", [8, 64])):
        assert list(protos[name].dims) == dims
        assert protos[name].data_location == TensorProto.EXTERNAL
        assert [(e.key, e.value) for e in protos[name].external_data] == [("location", STRIPPED)]
    assert [node.op_type for node in found.graph.node] == ["MatMul", "Add", "Reshape", "If", "Mul"]


def test_the_schedule_is_the_same() -> None:
    data = model().SerializeToString()
    plain, slim = (
        run_report(each, RunRequest("net", "graphturbo", "generic-4x4")).contract
        for each in (data, strip_weights(data, DEFAULT_LIMITS).data)
    )
    clock = ("steps", "schedule_seconds")
    assert {k: v for k, v in plain.items() if k not in clock} == {
        k: v for k, v in slim.items() if k not in clock
    }


def test_proposed_sizes_stay() -> None:
    data = load_sample("bert-base")
    slim = strip_weights(data, DEFAULT_LIMITS).data
    assert proposed_sizes(onnx.load_model_from_string(slim)) == {"batch": 32, "sequence": 128}


def test_twice_is_once() -> None:
    once = strip_weights(model().SerializeToString(), DEFAULT_LIMITS)
    twice = strip_weights(once.data, DEFAULT_LIMITS)
    assert twice.data == once.data
    assert (twice.removed, twice.absent) == (0, 4)


def test_every_message_with_comments_is_emptied() -> None:
    """No message type of the format with a comment is forgotten: walk all that a model holds."""
    made = model()
    function = helper.make_function(
        "local", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"], doc_string="secret")],
        [helper.make_opsetid("", 17)], doc_string="secret",
    )  # fmt: skip
    made.functions.append(function)
    made.graph.doc_string = made.doc_string = "secret"
    made.graph.value_info.append(helper.make_tensor_value_info("sum", 1, [8, 64], "secret"))
    found = onnx.load_model_from_string(
        strip_weights(made.SerializeToString(), DEFAULT_LIMITS).data
    )
    waiting, seen = [found], 0
    while waiting:
        message = waiting.pop()
        seen += 1
        for field, value in message.ListFields():
            assert field.name not in COMMENTS, type(message)
            if field.message_type is not None:
                waiting += [value] if hasattr(value, "ListFields") else list(value)
    assert seen > 40


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "net.onnx", tmp_path / "slim.onnx"
    source.write_bytes(model().SerializeToString())
    assert main(["strip", str(source), str(target)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "removed the numbers of 4 weights (22 KiB), 0 weights have none, 2 small" in err
    assert target.read_bytes() == strip_weights(source.read_bytes(), DEFAULT_LIMITS).data


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "net.onnx"
    source.write_bytes(b"nonsense" * 9)
    assert main(["strip", str(source), str(tmp_path / "out.onnx")]) == 2
    assert "error: TEXT_FILE" in capsys.readouterr().err
    source.write_bytes(model().SerializeToString())
    assert main(["strip", str(source), str(tmp_path)]) == 2
    assert "error: UNWRITABLE" in capsys.readouterr().err
    small = replace(DEFAULT_LIMITS, max_strip_bytes=100)
    with pytest.raises(ModelError, match="the limit is 100"):
        strip_weights(source.read_bytes(), small)


def test_a_file_too_large_is_told_of_this_command() -> None:
    tiny = replace(DEFAULT_LIMITS, max_model_bytes=100)
    with pytest.raises(ModelError, match="python -m graphturbo_core strip IN OUT"):
        run_report(model().SerializeToString(), RunRequest("net"), limits=tiny)
