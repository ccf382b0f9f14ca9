"""Two plan files -> their differences: choices, edits, groups, order, and values per tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace

from graphturbo_core.export.difference import NONE, Difference, capped
from graphturbo_core.export.plan_file import Origin, PlanFile
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Binding
from graphturbo_core.products.split_text import along_text
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.record import GroupRecord, KernelRecord, Record

MAX_NAMED = 4
"""Most ops that a row names per group."""


def plan_differences(a: PlanFile, b: PlanFile) -> list[Difference]:
    """Differences of A and B, round by round; empty for equal plans.

    Where A and B have no round size in common, their largest rounds are compared.
    """
    rows = capped(list(_choice_rows("choices", a.origin, b.origin)))
    rows += capped(list(_choice_rows("edits", a.edits, b.edits)))
    for size in sorted({*a.rounds, *b.rounds}, reverse=True):
        if size not in a.rounds or size not in b.rounds:
            has = ["planned" if size in file.rounds else NONE for file in (a, b)]
            rows.append(Difference("rounds", f"round of {size}", has[0], has[1]))
            continue
        suffix = f" (round of {size})" if len({*a.rounds, *b.rounds}) > 1 else ""
        rows += _round_rows(a.rounds[size], b.rounds[size], suffix)
    if a.rounds.keys().isdisjoint(b.rounds):
        largest = max(a.rounds), max(b.rounds)
        suffix = f" (rounds of {largest[0]} and {largest[1]})"
        rows += _round_rows(a.rounds[largest[0]], b.rounds[largest[1]], suffix)
    return rows


def _choice_rows(part: str, a: Origin | Edits, b: Origin | Edits) -> Iterator[Difference]:
    """Differences field by field; in a mapping, name by name."""
    for key in (field.name for field in fields(a)):
        own, other = getattr(a, key), getattr(b, key)
        if isinstance(own, Mapping) and isinstance(other, Mapping):
            yield from _name_rows(part, key, own, other)
        elif own != other:
            yield Difference(part, key, _value(own), _value(other))


def _name_rows(
    part: str, key: str, a: Mapping[str, object], b: Mapping[str, object]
) -> Iterator[Difference]:
    for name in dict.fromkeys([*a, *b]):
        if a.get(name) != b.get(name):
            values = _value(a.get(name, NONE)), _value(b.get(name, NONE))
            yield Difference(part, f"{key} {name}", *values)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_value(v)}" for k, v in value.items()) or NONE
    if isinstance(value, tuple):
        return ", ".join(map(_value, value)) or NONE
    if value is None:
        return NONE
    return str(getattr(value, "value", value))


def _round_rows(a: Record, b: Record, suffix: str) -> list[Difference]:
    rows = capped(list(_group_rows(a, b, f"groups{suffix}")))
    rows += capped(list(_order_rows(a, b, f"order{suffix}")))
    rows += capped(list(_cluster_rows(a, b, f"clusters{suffix}")))
    if a.divides_depthwise != b.divides_depthwise:
        found = ["both" if each.divides_depthwise else "the cheaper" for each in (a, b)]
        rows.append(Difference(f"engines{suffix}", "depthwise work", *found))
    if a.tile_buffers != b.tile_buffers:
        found = [_value(each.tile_buffers) for each in (a, b)]
        rows.append(Difference(f"tiles{suffix}", "buffers per streamed tensor", *found))
    for part, read in _READERS.items():
        rows += capped(_joined(list(_tensor_rows(a, b, f"{part}{suffix}", read))))
    return rows + capped(list(_retention_rows(a, b, f"retained weights{suffix}")))


def _retention_rows(a: Record, b: Record, part: str) -> Iterator[Difference]:
    """Weights and inputs whose GB retentions differ."""
    own, other = (_retentions_of(record) for record in (a, b))
    for weight in dict.fromkeys([*own, *other]):
        if own.get(weight) != other.get(weight):
            yield Difference(part, weight, own.get(weight, NONE), other.get(weight, NONE))


def _retentions_of(record: Record) -> dict[str, str]:
    retained: dict[str, list[str]] = {}
    for retention in record.stays:
        text = f"{retention.size_bytes} bytes from {retention.first} to {retention.last}"
        retained.setdefault(retention.weight, []).append(text)
    return {weight: ", ".join(texts) for weight, texts in retained.items()}


def _joined(rows: Sequence[Difference]) -> list[Difference]:
    """One row for all tensors with equal changes, named by the first of them."""
    equal: dict[tuple[str, str], list[Difference]] = {}
    for row in rows:
        equal.setdefault((row.a, row.b), []).append(row)
    return [
        replace(first, subject=f"{first.subject} and {len(more)} more") if more else first
        for first, *more in equal.values()
    ]


def _group_rows(a: Record, b: Record, part: str) -> Iterator[Difference]:
    """Groups of equal ops whose splits differ, and groups that share only some ops."""
    for own, other in _families(a.groups, b.groups):
        is_pair = len(own) == len(other) == 1
        if is_pair and _split(own[0]) != _split(other[0]):
            name = f"{own[0].name}, {_ops_text(own[0])}"
            yield Difference(part, name, _split_text(own[0]), _split_text(other[0]))
        if is_pair:
            continue
        what = "merged" if len(own) > len(other) else "split" if len(own) < len(other) else "cut"
        subject = f"{what} differently: {_ops_text(own[0])}"
        yield Difference(part, subject, _groups_text(own), _groups_text(other))


def _families(
    a: Sequence[GroupRecord], b: Sequence[GroupRecord]
) -> Iterator[tuple[list[GroupRecord], list[GroupRecord]]]:
    """Connected groups of A and B (linked by common ops), in A's order; iterative."""
    in_a = {op: group for group in a for op in group.ops}
    in_b = {op: group for group in b for op in group.ops}
    seen: set[str] = set()
    for first in a:
        if first.name in seen:
            continue
        own, other = _family(first, in_a, in_b)
        seen |= own.keys()
        yield list(own.values()), list(other.values())


def _family(
    first: GroupRecord, in_a: Mapping[str, GroupRecord], in_b: Mapping[str, GroupRecord]
) -> tuple[dict[str, GroupRecord], dict[str, GroupRecord]]:
    """The groups of A and of B, by name, that are connected to this group of A."""
    own: dict[str, GroupRecord] = {first.name: first}
    other: dict[str, GroupRecord] = {}
    sides = (own, in_a), (other, in_b)
    pending = [first]
    while pending:
        ops = pending.pop().ops
        met = (
            (found, index[op])
            for op in ops
            for found, index in sides
            if op in index and index[op].name not in found
        )
        for found, group in met:
            found[group.name] = group
            pending.append(group)
    return own, other


def _groups_text(groups: Sequence[GroupRecord]) -> str:
    return " + ".join(f"{group.name} ({_split_text(group)})" for group in groups) or NONE


def _split(group: GroupRecord) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    return group.axis, group.pieces, group.further


def _split_text(group: GroupRecord) -> str:
    along = along_text(*_split(group))
    return f"{group.pieces} pieces along {along}" if along else "whole"


def _ops_text(group: GroupRecord) -> str:
    named = " ".join(group.ops[:MAX_NAMED])
    more = len(group.ops) - MAX_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _order_rows(a: Record, b: Record, part: str) -> Iterator[Difference]:
    """The numbers of kernels, and the first place at which the kernels differ."""
    own, other = ([kernel.name for kernel in record.kernels] for record in (a, b))
    if own == other:
        return
    if len(own) != len(other):
        yield Difference(part, "kernels", str(len(own)), str(len(other)))
    pairs = enumerate(zip(own, other, strict=False))
    place = next((at for at, (x, y) in pairs if x != y), None)
    if place is not None:
        yield Difference(part, f"kernel {place + 1}", own[place], other[place])


def _cluster_rows(a: Record, b: Record, part: str) -> Iterator[Difference]:
    """Number of clusters that share the round, remote DRAM shares, and each kernel's cluster."""
    texts = [NONE if r.cooperation is None else _shared_text(r.cooperation) for r in (a, b)]
    if texts[0] != texts[1]:
        yield Difference(part, "share the round", *texts)
    own, other = (_clusters_of(record) for record in (a, b))
    for name in dict.fromkeys([*own, *other]):
        if own.get(name) != other.get(name):
            yield Difference(part, name, own.get(name, NONE), other.get(name, NONE))


def _shared_text(shared: Cooperation) -> str:
    return (
        f"{shared.clusters}, remote DRAM shares" if shared.has_remote_dram else str(shared.clusters)
    )


def _clusters_of(record: Record) -> dict[str, str]:
    """Cluster and step of each kernel, where clusters share the round."""
    shared = record.cooperation
    if shared is None:
        return {}
    places = zip(record.kernels, shared.cluster_of, shared.step_of, strict=True)
    return {kernel.name: f"cluster {own}, step {step}" for kernel, own, step in places}


def _tensor_rows(
    a: Record, b: Record, part: str, read: Callable[[KernelRecord], Mapping[str, object]]
) -> Iterator[Difference]:
    """Tensors whose values differ; equal values in several kernels count once."""
    own, other = (_by_tensor(record, read) for record in (a, b))
    for name in dict.fromkeys([*own, *other]):
        if own.get(name) != other.get(name):
            texts = (" or ".join(values.get(name, (NONE,))) for values in (own, other))
            yield Difference(part, name, *texts)


def _by_tensor(
    record: Record, read: Callable[[KernelRecord], Mapping[str, object]]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for kernel in record.kernels:
        for name, value in read(kernel).items():
            found.setdefault(name, {})[_value(value)] = None
    return {name: tuple(values) for name, values in found.items()}


def _cut_text(binding: Binding) -> str:
    cuts = zip(binding.axes, binding.grid, strict=True)
    return ", ".join(f"axis {axis} in {parts}" for axis, parts in cuts) or "whole"


def _cores_text(binding: Binding) -> str:
    return " ".join(map(str, binding.cores))


_READERS: dict[str, Callable[[KernelRecord], Mapping[str, object]]] = {
    "bindings": lambda kernel: {t: _cut_text(b) for t, b in kernel.bindings.items()},
    "cores": lambda kernel: {t: _cores_text(b) for t, b in kernel.bindings.items()},
    "scopes": lambda kernel: kernel.scopes,
    "resident in LB": lambda kernel: dict.fromkeys(kernel.kept, "resident"),
    "residency": lambda kernel: kernel.residency,
}
"""Values of tensors in a kernel, by part of the comparison."""
