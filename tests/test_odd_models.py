"""Models near the edge: malformed ones are refused by name, odd but valid ones run."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import GraphTurboError, ModelError, OptionError
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
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
