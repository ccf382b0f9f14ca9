"""Reports of unequal cluster batches -> the ratio at equal cluster batches."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_si

WAITED_FOR = "the ratio at equal ones is being computed"


def cluster_batch(report: Report) -> int:
    """Samples per round of one cluster."""
    return report.contract["cluster_batch"]


def is_like_for_like(a: Report, b: Report) -> bool:
    """Whether the ratio of two runs is fair without a second ratio at equal cluster batches.

    It is where cluster batches are equal, or where nothing else differs.
    """
    heads = [each.contract["strategy"].partition("@")[0] for each in (a, b)]
    options = [each.contract["options"] for each in (a, b)]
    is_one_strategy = heads[0] == heads[1] and options[0] == options[1]
    return cluster_batch(a) == cluster_batch(b) or is_one_strategy


def strategy_at(strategy: str, samples: int) -> str:
    """`tvm@16` of `tvm@2` and 16."""
    return f"{strategy.partition('@')[0]}@{samples}"


def asked_batch(report: Report) -> int:
    """The cluster batch that the strategy names; 0 where it names none."""
    _, _, named = report.contract["strategy"].partition("@")
    return int(named) if named else 0


def strategy_run(report: Report) -> str:
    """The strategy with the cluster batch that was run, where it names a larger one."""
    strategy, own = report.contract["strategy"], cluster_batch(report)
    return strategy_at(strategy, own) if asked_batch(report) > own else strategy


def asked_text(runs: Mapping[str, Report]) -> str:
    """`B is run at 16 samples per cluster: @999999 was asked`.

    `runs`: reports by the names of the runs; empty where each is run as it is named.
    """
    cut = {name: each for name, each in runs.items() if asked_batch(each) > cluster_batch(each)}
    if not cut:
        return ""
    pairs = {(cluster_batch(each), asked_batch(each)) for each in cut.values()}
    if len(pairs) > 1:
        return "; ".join(asked_text({name: each}) for name, each in cut.items())
    ((own, asked),) = pairs
    verb = "is" if len(cut) == 1 else "are"
    counted = f"{own:,} sample{'' if own == 1 else 's'}"
    return f"{' and '.join(cut)} {verb} run at {counted} per cluster: @{asked} was asked"


def equal_text(a: Report, b: Report, equal: Report | str | None) -> str:
    """Text with the ratio at equal cluster batches; empty for runs that are like for like.

    `equal`: report of A's strategy at B's cluster batch, the reason of its refusal, or None while
    it is computed.
    """
    if is_like_for_like(a, b):
        return ""
    both = f"cluster batches of {cluster_batch(a):,} and {cluster_batch(b):,}"
    if equal is None:
        return f" ({both}; {WAITED_FOR})"
    if isinstance(equal, str):
        return f" ({both}; A cannot run at {cluster_batch(b):,}: {equal})"
    rates = [each.contract["throughput_per_s"] for each in (equal, b)]
    ratio = f"{format_si(rates[1] / rates[0])}×"
    return f" ({both}; at {cluster_batch(b):,} for both it is {ratio})"


def equal_phrase(a: Report, b: Report, equal: Report | str | None) -> str:
    """`6.35× at a cluster batch of 16 for both`; nothing for like runs. `equal`: as above."""
    if is_like_for_like(a, b):
        return ""
    both = f"at a cluster batch of {cluster_batch(b):,} for both"
    if equal is None:
        return f"the ratio {both} is being computed"
    if isinstance(equal, str):
        return f"A cannot run {both}: {equal}"
    rates = [each.contract["throughput_per_s"] for each in (equal, b)]
    return f"{format_si(rates[1] / rates[0])}× {both}"
