"""Two program listings -> their differences: counts, bytes, first instruction per kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from graphturbo_core.errors import PlanError
from graphturbo_core.export.difference import NONE, Difference, capped

KERNEL = "# kernel "
SPAN = "instructions "
CORE_TO_CORE = "core to core"
"""Name for bytes without a cause: they cross neither GB nor DRAM."""
FIXED_COLUMNS = 7
"""Columns before the op's name, which may have spaces: sequence to cause."""


@dataclass
class _Listing:
    """Parsed listing: counts by name, line ranges of the kernels, and the instructions' lines."""

    kernels: dict[str, tuple[int, int]] = field(default_factory=dict)
    engines: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    cycles: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)


def program_differences(a: str, b: str) -> list[Difference]:
    """Differences of A and B; linear in their lines.

    Raises:
        PlanError: PLAN_LISTING, a line has another form than `--emit program` writes.
    """
    own, other = _listing(a), _listing(b)
    rows: list[Difference] = []
    for part, key in (
        ("instructions by engine", "engines"),
        ("instructions by kind", "kinds"),
        ("busy cycles by engine", "cycles"),
        ("bytes by cause", "sizes"),
        ("instructions by op or tensor", "ops"),
    ):
        rows += capped(list(_count_rows(part, getattr(own, key), getattr(other, key))))
    return rows + capped(list(_kernel_rows(own, other)))


def _listing(text: str) -> _Listing:
    found = _Listing()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            _read_line(found, line)
        except (ValueError, IndexError) as error:
            what, where = f"line {number} is no line of a program", "the listing"
            change = "give a file that `run --emit program` wrote"
            raise PlanError("PLAN_LISTING", what, where, change) from error
    return found


def _read_line(found: _Listing, line: str) -> None:
    if line.startswith(KERNEL):
        _read_kernel(found, line)
    elif line and not line.startswith("#"):
        _read_instruction(found, line)


def _read_kernel(found: _Listing, line: str) -> None:
    name, _, span = line.removeprefix(KERNEL).partition(" ")
    _, has_span, numbers = span.rpartition(SPAN)
    if not has_span:
        found.kernels[name] = (0, 0)
        return
    first, _, last = numbers.partition(" to ")
    found.kernels[name] = (int(first), int(last) + 1)


def _read_instruction(found: _Listing, line: str) -> None:
    columns = line.split(None, FIXED_COLUMNS)
    _, _, engine, kind, cycles, size, cause = columns[:FIXED_COLUMNS]
    name = columns[FIXED_COLUMNS].partition(" [")[0].rstrip()
    found.engines[engine] += 1
    found.cycles[engine] += int(cycles.partition("+")[0])
    found.kinds[kind] += 1
    found.ops[name] += 1
    if int(size):
        found.sizes[CORE_TO_CORE if cause == NONE else cause] += int(size)
    found.lines.append(line)


def _count_rows(part: str, a: Mapping[str, int], b: Mapping[str, int]) -> Iterator[Difference]:
    for name in sorted({*a, *b}):
        own, other = a.get(name, 0), b.get(name, 0)
        if own != other:
            yield Difference(part, name, f"{own:,}", f"{other:,}")


def _kernel_rows(a: _Listing, b: _Listing) -> Iterator[Difference]:
    """Kernels that only one program has, and the first differing instruction of the others."""
    for name in dict.fromkeys([*a.kernels, *b.kernels]):
        if name not in a.kernels or name not in b.kernels:
            has = ["runs" if name in listing.kernels else NONE for listing in (a, b)]
            yield Difference("kernels", name, has[0], has[1])
            continue
        place = _first_difference(a, b, name)
        if place is not None:
            lines = (_line_at(listing, name, place) for listing in (a, b))
            yield Difference("kernels", f"{name}, its instruction {place}", *lines)


def _first_difference(a: _Listing, b: _Listing, name: str) -> int | None:
    (first, end), (other_first, other_end) = a.kernels[name], b.kernels[name]
    counts = end - first, other_end - other_first
    for place in range(min(counts)):
        own = _relative(a.lines[first + place], first)
        if own != _relative(b.lines[other_first + place], other_first):
            return place
    return None if counts[0] == counts[1] else min(counts)


def _relative(line: str, first: int) -> list[str]:
    """Columns of a line without sequence and segment; waits relative to the kernel's first line."""
    columns, _, waits = line.partition(" < ")
    counted = [
        f"{int(wait.rstrip('a')) - first}{'a' if wait.endswith('a') else ''}"
        for wait in waits.split()
    ]
    return [*columns.split()[2:], "<", *counted]


def _line_at(listing: _Listing, name: str, place: int) -> str:
    first, end = listing.kernels[name]
    return " ".join(listing.lines[first + place].split()) if first + place < end else NONE
