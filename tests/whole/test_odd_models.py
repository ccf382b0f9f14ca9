"""Models near the edge: malformed ones are refused by name, odd but valid ones run."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.errors import GraphTurboError, ModelError, OptionError
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.steps import splitting
from tests.models import model_bytes


def _run(text: str, batch: int = 2) -> Report:
    request = RunRequest("test", "graphturbo", "generic-4x4", batch)
    return run_report(model_bytes(text), request)


def _conv(weight: str, attributes: str = "") -> str:
    return f"""
g (float[n,4,4,4] x) => (float[n,c,h,v] y) {{
  s = Constant<value_ints=[{weight}]>()
  w = ConstantOfShape(s)
  y = Conv{attributes}(x, w)
}}"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (_conv("4,5,3,3"), "BAD_CONVOLUTION"),
        (_conv("4,4,1,1", "<group=0>"), "BAD_CONVOLUTION"),
        (_conv("4,4,5,5"), "EMPTY_TENSOR"),
    ],
)
def test_refused_with_the_op(text: str, code: str) -> None:
    """Depth 5 against 4 channels; no groups; a 5x5 window on a 4x4 image without padding."""
    with pytest.raises(ModelError) as refused:
        _run(text)
    assert refused.value.code == code
    assert "Conv" in str(refused.value)


def test_a_huge_batch_is_refused() -> None:
    with pytest.raises(OptionError, match="65536"):
        _run(_conv("4,4,1,1"), batch=65_537)


def test_a_tensor_past_any_memory_is_refused() -> None:
    text = """
g (float[n,4] x) => (float[n,4] y) {
  s = Constant<value_ints=[1000000,1000000]>()
  w = ConstantOfShape(s)
  r = ReduceSum<keepdims=0>(w)
  y = Add(x, r)
}"""
    with pytest.raises(GraphTurboError) as refused:
        _run(text)
    assert refused.value.code == "SHAPE_TOO_LARGE"


PRIME = 99_999_989
"""An axis that can be cut into single elements or not at all."""


def test_an_axis_without_divisors_runs_whole() -> None:
    """Its 10^8 pieces are never listed: the only other count is above the cap on pieces."""
    text = f"g (float[{PRIME}] x) => (float[{PRIME}] y) {{ y = Relu(x) }}"
    report = run_report(model_bytes(text), RunRequest("prime", "graphturbo"))
    (group,) = report.contract["groups"]  # type: ignore[misc]  # one group
    assert group["pieces"] == 1
    assert splitting.divisors(PRIME) == (1,)
    assert splitting.divisors(12) == (1, 2, 3, 4, 6, 12)
    assert len(splitting.literal_candidates(PRIME)) < DEFAULT_LIMITS.max_pieces


def test_an_op_may_leave_its_first_output_unused() -> None:
    """TopK's values are dropped, its indices are wanted."""
    text = """
g (float[n,16] x) => (int64[n,4] i) {
  k = Constant<value_ints=[4]>()
  v, i = TopK(x, k)
}"""
    assert _run(text).contract["instructions"]


def test_a_weight_may_be_an_output() -> None:
    """No instruction moves it, so no bound may count it."""
    text = """
g (float[n,4] x) => (float[n,4] y, float[512,512] w) {
  s = Constant<value_ints=[512,512]>()
  w = ConstantOfShape(s)
  y = Relu(x)
}"""
    contract = _run(text).contract
    moved = contract["dram_read_bytes"] + contract["dram_write_bytes"]  # type: ignore[operator]
    assert contract["compulsory_dram_bytes"] == moved == 2 * 4 * 2 * 2


_STRATEGIES = ("layerwise", "tvm@2", "graphturbo@16")


def _with_custom_op(batch: int | str) -> bytes:
    """Conv -> com.foo.Bar -> Relu on 12x12 images, Bar's output recorded with that batch."""
    make = helper.make_tensor_value_info
    weight = numpy_helper.from_array(np.ones((12, 3, 3, 3), dtype=np.float32), "w")
    shape = [batch, 12, 12, 12]
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
            helper.make_node("Bar", ["a"], ["b"], name="bar", domain="com.foo"),
            helper.make_node("Relu", ["b"], ["y"]),
        ],
        "custom",
        [make("x", TensorProto.FLOAT, [batch, 3, 12, 12])],
        [make("y", TensorProto.FLOAT, shape)],
        [weight],
        value_info=[make("b", TensorProto.FLOAT, shape)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.foo", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("strategy", _STRATEGIES)
@pytest.mark.parametrize("batch", ["n", 1, 4])
def test_a_custom_op_runs_whole_at_any_batch(batch: int | str, strategy: str) -> None:
    """64 samples on 4 clusters: rounds of 16, 2 and 16, whatever batch the file records."""
    request = RunRequest("custom", strategy, "stcp920", 64)
    report = run_report(_with_custom_op(batch), request)
    taken = 2 if strategy == "tvm@2" else 16
    notes = report.contract["notes"]
    assert isinstance(notes, list)
    assert any(note.startswith("1 op(s) of type Bar have no semantics") for note in notes)
    bound = f"bar: shapes of com.foo.Bar taken from the file: 'b' [{taken}, 12, 12, 12]"
    followed = f"bar: leading {batch} of 'b' rescaled to {taken} as that of an input, "
    assert any(note.startswith(bound if batch == "n" else followed) for note in notes)
    assert report.contract["instructions"]


def test_one_dim_binds_a_custom_op_in_the_whole_and_in_a_round() -> None:
    request = RunRequest("custom", "graphturbo@16", "stcp920", dims={"n": 64})
    notes = run_report(_with_custom_op("n"), request).contract["notes"]
    assert isinstance(notes, list)
    shapes = [note.rpartition("'b' ")[2] for note in notes if "taken from the file" in note]
    assert shapes == ["[64, 12, 12, 12]", "[16, 12, 12, 12]"]
