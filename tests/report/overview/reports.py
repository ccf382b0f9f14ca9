"""Reports that several tests look at: the smallest sample, and a model split along two axes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from tests.models import model_bytes

WEIGHTS = "{" + ",".join(["0.5", "-1", "0.25"] * (16 * 16 * 3)) + "}"
LARGE = f"""g (float[4,16,32,32] x) => (float[4,16,32,32] z)
<float[16,16,3,3] w0 = {WEIGHTS}, float[16,16,3,3] w1 = {WEIGHTS}>
{{ y = Conv <pads = [1,1,1,1]> (x, w0) r = Relu (y)
  c = Conv <pads = [1,1,1,1]> (r, w1) z = Relu (c) }}"""
"""A sample a cluster of the chip below; whole it is 32 KiB, all its LBs'."""
PROFILE = Path(__file__).resolve().parents[3] / "hardware_profiles" / "generic-4x4.yaml"
SMALLER = {
    "lb_data_bytes: {value: 196608": "lb_data_bytes: {value: 8192",
    "lb_weight_bytes: {value: 65536": "lb_weight_bytes: {value: 4096",
    "gb_bytes: {value: 2097152": "gb_bytes: {value: 32768",
    "staging_bytes: {value: 65536": "staging_bytes: {value: 4096",
    "matrix_rows: {value: 32": "matrix_rows: {value: 8",
    "matrix_columns: {value: 32": "matrix_columns: {value: 8",
}


@cache
def report_of(strategy: str, batch: int = 64, profile: str = "stcp920") -> Report:
    request = RunRequest("teaching-resnet", strategy, profile, batch)
    return run_report(load_sample("teaching-resnet"), request)


def small_chip() -> bytes:
    text = PROFILE.read_text(encoding="utf-8")
    for old, new in SMALLER.items():
        assert old in text
        text = text.replace(old, new)
    return text.encode()


def run_split(
    plan: str = "", options: dict[str, str] | None = None, *, verify: bool = False
) -> Report:
    request = RunRequest(
        "large", "graphturbo:plus", "small", 4, options=options or {}, plan=plan, emit=("plan",),
        verify=verify,
    )  # fmt: skip
    return run_report(model_bytes(LARGE), request, small_chip())


@cache
def split() -> Report:
    return run_split(verify=True)
