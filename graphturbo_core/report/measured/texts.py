"""A comparison with measured times -> sentences and table rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from graphturbo_core.report.measured.comparison import FEWEST, LayerShare, MeasuredComparison
from graphturbo_core.units import counted

RATIO = "measured share / simulated share"
MAX_LISTED = 8
"""Names in a sentence; the rest are counted."""


def correlation_text(found: MeasuredComparison) -> str:
    """Spearman's rank correlation, or why there is none."""
    count = len(found.shares)
    if found.correlation is None:
        if count < FEWEST:
            return f"No rank correlation: {counted(count, 'layer')} matched, {FEWEST} are needed."
        return "No rank correlation: all times of one side are equal."
    return f"Spearman's rank correlation {found.correlation:.3f} over {counted(count, 'layer')}."


def total_text(found: MeasuredComparison) -> str:
    """Both sums and their ratio; that nothing is scaled."""
    simulated, measured = found.simulated_ms, found.measured_ms
    times = f", {measured / simulated:.3g} times" if simulated else ""
    return (
        f"Sums of the matched layers: measured {measured:.4g} ms, simulated {simulated:.4g} ms"
        f"{times} (one round of {counted(found.samples, 'sample')} on one cluster). "
        "Nothing is scaled or fitted; shares are of these sums."
    )


def unmatched_texts(found: MeasuredComparison) -> list[str]:
    """Rows that name no layer, layers without a time, and layers with several rows."""
    texts = []
    if unknown := found.matched.unknown:
        names = [f"{row.name} (line {row.line})" for row in unknown]
        texts.append(f"{counted(len(names), 'row')} without a layer: {_listed(names)}.")
    if unmeasured := found.matched.unmeasured:
        texts.append(f"{counted(len(unmeasured), 'layer')} without a time: {_listed(unmeasured)}.")
    several = [layer.name for layer in found.matched.layers if layer.rows > 1]
    if several:
        texts.append(f"Sums of several rows: {_listed(several)}.")
    return texts


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
    return f"{', '.join(names[:MAX_LISTED])}{more}"


def ratio_text(share: LayerShare) -> str:
    """The measured share over the simulated one."""
    if share.ratio is None:
        return "no time on either side"
    return "only measured" if share.ratio == inf else f"{share.ratio:.3g}×"


def share_row(share: LayerShare) -> dict[str, object]:
    """One layer of a table."""
    layer = share.layer
    return {
        "layer": layer.index + 1,
        "name": layer.name,
        "simulated (ms)": layer.simulated_ms,
        "measured (ms)": layer.measured_ms,
        "simulated share (%)": 100 * share.simulated,
        "measured share (%)": 100 * share.measured,
        RATIO: ratio_text(share),
    }


def measured_json(found: MeasuredComparison) -> dict[str, object]:
    """What `run --measured --json` adds."""
    return {
        "correlation": found.correlation,
        "simulated_ms": found.simulated_ms,
        "measured_ms": found.measured_ms,
        "samples": found.samples,
        "layers": [
            {
                "name": share.layer.name,
                "simulated_ms": share.layer.simulated_ms,
                "measured_ms": share.layer.measured_ms,
                "rows": share.layer.rows,
            }
            for share in found.shares
        ],
        "rows_without_layer": [row.name for row in found.matched.unknown],
        "layers_without_time": list(found.matched.unmeasured),
    }
