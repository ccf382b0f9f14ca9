"""Report -> what the critical path spends most time on, and the number of the chip behind it.

The change that is tried is a quarter more of that number (our choice: small enough to be a chip of
the same kind, large enough to be seen).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_si

MORE, LESS = Fraction(5, 4), Fraction(4, 5)
NUMBERS: dict[str, tuple[str, Fraction, str]] = {
    "matrix": ("core.matrix_columns", MORE, "25 % more matrix columns"),
    "vector": ("core.vector_lanes", MORE, "25 % more vector lanes"),
    "dram": ("cluster.dram_bandwidth_bytes_per_s", MORE, "25 % more DRAM bandwidth"),
    "gb": ("cluster.gb_bandwidth_bytes_per_s", MORE, "25 % more GB bandwidth"),
    "lb": ("core.lb_bandwidth_bytes_per_s", MORE, "25 % more LB bandwidth"),
    "launch": ("kernel.launch_cycles", LESS, "20 % fewer launch cycles"),
}
"""The number that each resource of the critical path depends on, its change, and that in words."""
BOUND: dict[str, str] = {
    "matrix": "matrix-bound", "vector": "vector-bound", "dram": "DRAM-bound", "gb": "GB-bound",
    "lb": "LB-bound", "launch": "launch-bound",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BindingChange:
    """The resource that binds a run, and the change of the chip that should move it."""

    bound: str
    key: str
    factor: Fraction
    words: str

    def text(self, name: str, before: Report, after: Report) -> str:
        """`B is DRAM-bound: 25 % more DRAM bandwidth makes it 1.18× as fast`."""
        rates = [each.contract["throughput_per_s"] for each in (before, after)]
        verb = "make" if self.words.endswith("s") else "makes"
        ratio = format_si(rates[1] / rates[0]) if rates[0] else "1"
        return f"{name} is {self.bound}: {self.words} {verb} it {ratio}× as fast"


def binding_change(report: Report) -> BindingChange | None:
    """What binds the run by its critical path; None where no number of the chip stands for it."""
    path = report.contract["critical_path"]
    resource = max(sorted(path), key=lambda name: path[name], default="")
    key, factor, words = NUMBERS.get(resource, ("", MORE, ""))
    known = {row["key"] for row in report.tables["chip"]}
    if key not in known:
        return None
    return BindingChange(BOUND[resource], key, factor, words)
