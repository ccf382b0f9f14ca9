"""The default comparison's reports as stored with the source, for a server's first seconds.

A server has no report before its workers are warm: some seconds after its start, a minute after
installation. So the page that everybody opens first is drawn from stored reports, and the workers
compute the same runs meanwhile: their reports, which have the seconds of each step, replace the
stored ones. A test computes them anew and compares every number.

    python -m graphturbo_ui.stored_runs    write the file again
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from graphturbo_core.pipeline import run_reports
from graphturbo_core.report.report import Report

FILE = Path(__file__).with_suffix(".npz.xz")


def without_clock(report: Report) -> Report:
    """The report without what a clock measured: steps, and their sum."""
    return replace(report, contract={**report.contract, "steps": [], "schedule_seconds": 0.0})


@cache
def stored_reports() -> Mapping[str, Report]:
    """Report by run key; empty where Python was built without lzma."""
    try:
        import lzma  # noqa: PLC0415 - not in every build of Python
    except ImportError:
        return {}
    with np.load(io.BytesIO(lzma.decompress(FILE.read_bytes())), allow_pickle=False) as archive:
        return {key: Report.from_bytes(archive[key].tobytes()) for key in archive.files}


def main() -> None:
    """Computes the default comparison and stores it."""
    import lzma  # noqa: PLC0415 - not in every build of Python

    from graphturbo_ui.jobs import default_comparison, run_key  # noqa: PLC0415 - imports this file

    requests, source = default_comparison()
    keys = [run_key(request, source) for request in requests]
    found = zip(keys, run_reports(source.model, requests), strict=True)
    stream = io.BytesIO()
    np.savez(
        stream,
        allow_pickle=False,
        **{key: np.frombuffer(without_clock(each).to_bytes(), np.uint8) for key, each in found},
    )
    FILE.write_bytes(lzma.compress(stream.getvalue(), preset=lzma.PRESET_EXTREME | 9))


if __name__ == "__main__":
    main()
