"""Reports -> the sentence above the first screen: how B compares with A, and the largest causes."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.at_work import busy_at_work, clusters_at_work
from graphturbo_core.report.verdict.equal_batches import equal_phrase
from graphturbo_core.report.verdict.measures import dram_bytes
from graphturbo_core.report.verdict.note_places import unknown_ops
from graphturbo_core.report.verdict.verdict import CAUSES, COMPARED, EDITED, differences, is_same
from graphturbo_core.units import counted, format_bytes

CLEAR = 1.5
"""From this speed-up on the sentence says `faster`, below it `only … faster` (our choice)."""
TOLD_CAUSES = 2
"""Causes of DRAM traffic that the sentence names."""
BATCHES = COMPARED["cluster_batch"]
"""How a difference in cluster batches begins: the ratio at equal ones says more."""
NAMED: Mapping[str, str] = {**CAUSES, "activation": "activations"}
OF_ACTIVATIONS = ("activation", "spill", "halo")
"""Causes that take the place of each other as the plan changes: the sentence has their sum."""


def headline(a: Report, b: Report) -> str:
    """`Coarse is 6.3× faster: 10.5× less DRAM traffic, matrix engines busy 87 % instead of 13 %`.

    The rates are samples per second. `Coarse` where only B merges layers, else B's strategy.
    """
    first, second = (each.contract["throughput_per_s"] for each in (a, b))
    name = subject(a, b)
    if is_same(first, second):
        return f"{name} is as fast: {_reasons(a, b, 0)}"
    if second > first:
        ratio = second / first
        only = "" if ratio >= CLEAR else "only "
        return f"{name} is {only}{times(ratio)} faster: {_reasons(a, b, 1 if only else 2)}"
    return f"{name} is {times(first / second)} slower: {_reasons(a, b, -1)}"


def beside_text(a: Report, b: Report, equal: Report | str | None) -> str:
    """In what A and B differ besides the strategy, the ratio at equal cluster batches, unknown ops.

    `equal`: as `equal_text` takes it. Edits of a plan are left out: each run's row has them.
    """
    others = [
        found for found in differences(a, b) if not found.startswith(BATCHES) and found != EDITED
    ]
    also = f"A and B also differ in {', '.join(others)}" if others else ""
    parts = [also, equal_phrase(a, b, equal), _unknown_text(b)]
    return "; ".join(part for part in parts if part)


def _unknown_text(report: Report) -> str:
    """`120 of 360 ops are of types unknown here: …`; empty where all are known."""
    unknown, ops = unknown_ops(report), len(report.tables["graph_nodes"])
    if not unknown:
        return ""
    verb, they = ("is of a type", "it runs") if unknown == 1 else ("are of types", "they run")
    return f"{unknown:,} of {ops:,} ops {verb} unknown here: {they} whole, and no MACs count"


def subject(a: Report, b: Report) -> str:
    """What the sentence calls B: `Coarse`, where A has a kernel per layer and B has fewer."""
    layers = len(b.tables["layers"])
    is_fine = len(a.tables["groups"]) >= layers
    is_coarse = len(b.tables["groups"]) < layers
    is_one_task = all(
        a.contract[key] == b.contract[key] for key in ("model", "profile", "batch", "dtype")
    )
    return "Coarse" if is_fine and is_coarse and is_one_task else f"B, {b.contract['strategy']},"


def times(ratio: float) -> str:
    """A multiple: three digits below two and from ten on, else two: `1.16×`, `6.3×`, `10.5×`."""
    digits = 2 if 2 <= ratio < 10 else 3  # noqa: PLR2004
    rounded = float(f"{ratio:.{digits}g}")
    return f"{rounded:,.{max(0, digits - len(str(int(rounded))))}f}×"


def percent(share: float) -> str:
    """A share in whole per cent from 10 % on, else with two digits: `87 %`, `9.2 %`."""
    return f"{share:.0%}".replace("%", " %") if share >= 0.0995 else f"{100 * share:.2g} %"  # noqa: PLR2004


def _reasons(a: Report, b: Report, outcome: int) -> str:
    """The causes: ratios where B clearly wins (2), else what DRAM moves less and more of."""
    first, second = dram_bytes(a.contract), dram_bytes(b.contract)
    if outcome == 2:  # noqa: PLR2004
        return ", ".join([_traffic(first, second), _busy(a, b)])
    changed: dict[str, int] = {}
    for sign, ledger in ((-1, a.contract["dram_ledger"]), (1, b.contract["dram_ledger"])):
        for cause, size in ledger.items():
            named = "activation" if cause in OF_ACTIVATIONS else cause
            changed[named] = changed.get(named, 0) + sign * size
    grown = sorted((c for c in changed if changed[c] > 0), key=lambda c: (-changed[c], c))
    shrunk = sorted((c for c in changed if changed[c] < 0), key=lambda c: (changed[c], c))
    if outcome < 0:
        # What grew most, then the largest other change: more of one may mean less of another.
        others = sorted((*grown[1:], *shrunk[:1]), key=lambda c: (-abs(changed[c]), c))
        changes = [_change(changed, c) for c in (*grown[:1], *others)[:TOLD_CAUSES]]
        return ", ".join([_traffic(first, second), *changes]) if grown else _busy(a, b)
    changes = [_change(changed, c) for c in (*shrunk[:1], *grown[:1])]
    return f"DRAM moves {', '.join(changes)}" if changes else _busy(a, b)


def _change(changed: Mapping[str, int], cause: str) -> str:
    """`12 GiB more refetched weights`, `12 GiB fewer activations`."""
    more = "more" if changed[cause] > 0 else "fewer"
    return f"{format_bytes(abs(changed[cause]))} {more} {NAMED.get(cause, cause)}"


def _traffic(first: int, second: int) -> str:
    if is_same(first, second) or not first or not second:
        return "the same DRAM traffic" if first == second else f"{format_bytes(second)} over DRAM"
    if second < first:
        return f"{times(first / second)} less DRAM traffic"
    return f"{times(second / first)} the DRAM traffic"


def _busy(a: Report, b: Report) -> str:
    """Of the clusters that have samples, as in the rows below; of how many, where that differs."""
    first, second = (busy_at_work(each)["matrix"] for each in (a, b))
    one, other = (clusters_at_work(each) for each in (a, b))
    clusters = f", on {counted(other, 'cluster')} instead of {one}" if one != other else ""
    if percent(first) == percent(second):
        return f"matrix engines busy {percent(second)} in both{clusters}"
    return f"matrix engines busy {percent(second)} instead of {percent(first)}{clusters}"
