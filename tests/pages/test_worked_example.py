"""Holds the code to docs/worked-example.md: its tables are the expectations, its blocks the input.

No number of the example stands here; a table or block that cannot be read is a failure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import pytest

from graphturbo_core.hardware.profile import parse_profile
from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.semantics.table import analyse
from graphturbo_core.sim.ledger import Ledger, ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace, Wait
from graphturbo_core.strategies.registry import parse_strategy
from tests.models import graph_of
from tests.strategies.plans import make_plan

PAGE = Path(__file__).parents[2] / "docs" / "worked-example.md"
LEVELS = {"graphturbo:order": "", "graphturbo:full": "full "}
"""Strategy -> how the headings of its tables start."""
MEMORIES = {
    "LB data": Memory.LB_DATA, "LB weight": Memory.LB_WEIGHT, "staging": Memory.STAGING,
    "GB": Memory.GB, "DRAM": Memory.DRAM,
}  # fmt: skip
STALLS = {
    "busy": Wait.BUSY, "data": Wait.DATA, "address": Wait.ADDRESS, "channel": Wait.CHANNEL,
    "barrier": Wait.BARRIER, "idle": Wait.IDLE,
}  # fmt: skip
GANTT_CYCLES = 8
GANTT_CHARACTERS = {"address": "a", "channel": "c", "data": "d", "barrier": "b", "idle": "."}
ABSENT = "–"  # the page's dash

Row = dict[str, str]
Buffer = tuple[Memory, int, int, int, str, Box, int, int]
"""Memory, core, address, bytes, tensor, box, first, last."""
Access = tuple[int, bool, Box]


# --- The page ---------------------------------------------------------------------------------


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one fenced block of this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text(), flags=re.M | re.S)
    return str(found)


def table(name: str) -> list[Row]:
    """The rows under a heading `### Table: name`, by column."""
    _, section = text().split(f"\n### Table: {name}\n")
    lines = re.match(r"\n((?:\|.*\|\n)+)", section)
    assert lines is not None, f"no table under {name!r}"
    header, rule, *body = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines[1].splitlines()
    ]
    assert set("".join(rule)) == {"-"}
    return [dict(zip(header, cells, strict=True)) for cells in body]


def number(cell: str) -> int:
    """An integer; the dash stands for -1."""
    return -1 if cell == ABSENT else int(cell)


def codes(cell: str) -> list[str]:
    """What a cell puts between backquotes."""
    return re.findall(r"`([^`]*)`", cell)


# --- The code's products ----------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Program and Trace of one level; `number_of` gives the page's number of a row."""

    trace: Trace
    number_of: tuple[int, ...]

    @cached_property
    def program(self) -> Program:
        return self.trace.program

    @cached_property
    def row_of(self) -> dict[int, int]:
        return {number: row for row, number in enumerate(self.number_of)}

    def shape(self, tensor: str) -> tuple[int, ...]:
        return self.program.plan.semantics.graph.tensors[tensor].shape

    def box(self, tensor: str, code: str) -> Box:
        """`[0:2, :]` as a box of the tensor; an empty code is all of it."""
        whole = full_box(self.shape(tensor))
        if not code:
            return whole
        cells = code.strip("[]").split(",")
        return tuple(
            axis if cell.strip() == ":" else tuple(map(int, cell.split(":")))  # type: ignore[misc]
            for axis, cell in zip(whole, cells, strict=True)
        )

    def cut(self, tensor: str, lo: list[int], hi: list[int]) -> Box:
        """A stored box without the axes that the tensor lacks."""
        rank = len(self.shape(tensor))
        return tuple(zip(lo[:rank], hi[:rank], strict=True))

    def label(self, engine: int) -> str:
        return self.program.engines[engine].label


def run(strategy: str) -> Run:
    hardware = parse_profile(block("yaml").encode(), "worked-example")
    semantics = analyse(graph_of(block("onnx")))
    plan = make_plan(parse_strategy(strategy), semantics, hardware, "fp16", {})
    plan.check()
    trace = simulate(lower(plan))
    trace.check()
    count = trace.program.size
    if strategy == "graphturbo:order":
        return Run(trace, tuple(range(count)))
    return Run(trace, tuple(number(row["no."]) for row in table("full")))


@pytest.fixture(scope="module", params=LEVELS)
def level(request: pytest.FixtureRequest) -> tuple[Run, str]:
    """A level's run and how the headings of its tables start."""
    return run(request.param), LEVELS[request.param]


@pytest.fixture(scope="module")
def order() -> Run:
    return run("graphturbo:order")


# --- The Program ------------------------------------------------------------------------------


def page_buffers(known: Run) -> dict[str, Buffer]:
    return {
        codes(row["buffer"])[0]: (
            MEMORIES[row["memory"]],
            number(row["core"]),
            number(row["address"]),
            number(row["bytes"]),
            row["tensor"],
            known.box(row["tensor"], codes(row["box"])[0]),
            number(row["first"]),
            number(row["last"]),
        )
        for row in table("buffers")
    }


def code_buffers(known: Run) -> list[Buffer]:
    found = known.program.buffers
    names = [known.program.tensors[place] for place in found.tensor.tolist()]
    boxes = [
        known.cut(name, lo, hi)
        for name, lo, hi in zip(names, found.lo.tolist(), found.hi.tolist(), strict=True)
    ]
    memories = [Memory(memory) for memory in found.memory.tolist()]
    columns = (found.core, found.offset, found.size_bytes)
    sizes = zip(*(column.tolist() for column in columns), strict=True)
    uses = zip(found.first.tolist(), found.last.tolist(), strict=True)
    return [
        (memory, *size, name, box, *use)
        for memory, size, name, box, use in zip(memories, sizes, names, boxes, uses, strict=True)
    ]


def test_buffers_lie_where_the_page_says(order: Run) -> None:
    assert sorted(page_buffers(order).values()) == sorted(code_buffers(order))


def test_buffers_lie_elsewhere_across_layers() -> None:
    """Their first and last uses have other numbers, so these are left out."""
    known = run("graphturbo:full")
    moved = {codes(row["buffer"])[0]: number(row["address"]) for row in table("full addresses")}
    expected = [
        (*buffer[:2], moved.get(name, buffer[2]), *buffer[3:6])
        for name, buffer in page_buffers(known).items()
    ]
    assert sorted(expected) == sorted(buffer[:6] for buffer in code_buffers(known))


def test_instructions_are_those_of_the_page(level: tuple[Run, str]) -> None:
    known, _ = level
    program = known.program
    assert program.size == len(table("instructions"))
    for row in table("instructions"):
        i = known.row_of[number(row["no."])]
        found = {
            "kind": InstructionKind(program.kind[i]).name.lower(),
            "engine": known.label(program.engine[i]),
            "layer": str(program.layer[i]),
            "tile": str(program.tile[i]),
            "bytes": str(program.size_bytes[i]),
            "channels and cycles": channels(program, i),
            "hold": str(program.hold_cycles[i]),
            "latency": str(program.latency_cycles[i]),
        }
        assert found == {name: row[name] for name in found}, f"instruction {row['no.']}"


def channels(program: Program, i: int) -> str:
    rows = range(program.channel_at[i], program.channel_at[i + 1])
    names = (program.channels[program.channel[at]].name for at in rows)
    cycles = (program.channel_cycles[at] for at in rows)
    return ", ".join(f"{name} {n}" for name, n in zip(names, cycles, strict=True)) or ABSENT


def test_accesses_are_those_of_the_page(order: Run) -> None:
    named = page_buffers(order)
    place = {buffer: at for at, buffer in enumerate(code_buffers(order))}
    program = order.program
    for row in table("accesses"):
        i = number(row["no."])
        expected = {
            (place[named[name]], is_write, order.box(named[name][4], f"[{box}" if box else ""))
            for column, is_write in (("reads", False), ("writes", True))
            for name, _, box in (code.partition("[") for code in codes(row[column]))
        }
        rows = range(program.access_at[i], program.access_at[i + 1])
        assert {access(order, at) for at in rows} == expected, f"instruction {i}"


def access(known: Run, at: int) -> Access:
    program = known.program
    buffer = int(program.access_buffer[at])
    tensor = program.tensors[program.buffers.tensor[buffer]]
    lo, hi = program.access_lo[at].tolist(), program.access_hi[at].tolist()
    return buffer, bool(program.access_write[at]), known.cut(tensor, lo, hi)


def page_conflicts(prefix: str) -> dict[int, set[tuple[int, bool]]]:
    """Per instruction: (what it waits for, whether for an address); the level's own go first."""
    found: dict[int, set[tuple[int, bool]]] = {}
    for row in (*table("accesses"), *(table("full conflicts") if prefix else ())):
        items = [] if row["conflicts"] == ABSENT else row["conflicts"].split(", ")
        pairs = (item.split() for item in items)
        found[number(row["no."])] = {(int(n), kind == "address") for n, kind in pairs}
    return found


def test_conflicts_are_those_of_the_page(level: tuple[Run, str]) -> None:
    known, prefix = level
    program = known.program
    for n, expected in page_conflicts(prefix).items():
        i = known.row_of[n]
        rows = range(program.conflict_at[i], program.conflict_at[i + 1])
        assert {
            (known.number_of[program.conflict[at]], bool(program.is_address_conflict[at]))
            for at in rows
        } == expected, f"instruction {n}"


# --- The Trace --------------------------------------------------------------------------------


def test_instructions_start_and_end_when_the_page_says(level: tuple[Run, str]) -> None:
    known, prefix = level
    trace = known.trace
    for row in table(prefix.strip() or "starts and ends"):
        i = known.row_of[number(row["no."])]
        ready = trace.start[i] - trace.channel_wait_cycles[i]
        assert [str(n) for n in (ready, trace.start[i], trace.end[i])] == [
            row["ready"], row["start"], row["end"]
        ], f"instruction {row['no.']}"  # fmt: skip
        assert row.get("segment", "0") == str(known.program.segment[i])


def test_segments_open_and_close_when_the_page_says(level: tuple[Run, str]) -> None:
    known, prefix = level
    rows = table(f"{prefix}segments")
    assert [number(row["segment"]) for row in rows] == list(range(len(rows)))
    assert [number(row["open"]) for row in rows] == known.trace.segment_open.tolist()
    assert [number(row["close"]) for row in rows] == known.trace.segment_close.tolist()


Gap = tuple[int, int, str, int]
"""From, to, class, what it waits for."""


def last_reason(known: Run, i: int) -> tuple[str, int]:
    """What made an instruction ready as late as it was; the Trace keeps it only without a queue."""
    trace, program = known.trace, known.program
    rows = range(program.conflict_at[i], program.conflict_at[i + 1])
    reasons = [
        (-int(trace.end[program.conflict[at]]), int(program.conflict[at]), at) for at in rows
    ]
    ended, before, at = min(reasons, default=(0, -1, -1))
    if -ended < trace.segment_open[program.segment[i]]:
        return "barrier", -1
    return "address" if program.is_address_conflict[at] else "data", known.number_of[before]


def code_gaps(known: Run, engine: int) -> list[Gap]:
    """Every gap of an engine, cut where a wait for data turns into one for channels."""
    trace, program = known.trace, known.program
    names = {wait: name for name, wait in STALLS.items()}
    found: list[Gap] = []
    free = 0
    for i in (program.engine == engine).nonzero()[0].tolist():
        start = int(trace.start[i])
        queued = int(trace.channel_wait_cycles[i])
        on = int(trace.wait_on[i])
        last = (names[Wait(trace.wait[i])], known.number_of[on] if on >= 0 else -1)
        if start - queued > free:
            found.append((free, start - queued, *(last_reason(known, i) if queued else last)))
        if queued:
            found.append((start - queued, start, *last))
        free = start + int(program.hold_cycles[i])
    return [*found, (free, trace.makespan, "idle", -1)] if free < trace.makespan else found


def page_gaps(prefix: str, engine: str) -> list[Gap]:
    return [
        (number(row["from"]), number(row["to"]), row["class"], waited_for(row["waits for"]))
        for row in table(f"{prefix}gaps")
        if row["engine"] == engine
    ]


def waited_for(cell: str) -> int:
    return int(cell) if cell.isdecimal() else -1


def test_gaps_are_those_of_the_page(level: tuple[Run, str]) -> None:
    known, prefix = level
    for engine in range(len(known.program.engines)):
        assert page_gaps(prefix, known.label(engine)) == code_gaps(known, engine)
    assert all(
        number(row["to"]) - number(row["from"]) == number(row["cycles"])
        for row in table(f"{prefix}gaps")
    )


def test_stalls_are_those_of_the_page_and_its_gaps(level: tuple[Run, str]) -> None:
    known, prefix = level
    rows = table(f"{prefix}stalls")
    assert [row["engine"] for row in rows] == [engine.label for engine in known.program.engines]
    for engine, row in enumerate(rows):
        cycles = {name: number(row[name]) for name in STALLS}
        assert cycles == {name: known.trace.stalls[engine, w] for name, w in STALLS.items()}
        assert sum(cycles.values()) == number(row["sum"]) == known.trace.makespan
        summed = dict.fromkeys(cycles, 0)
        for begin, end, name, _ in page_gaps(prefix, row["engine"]):
            summed[name] += end - begin
        assert {**summed, "busy": cycles["busy"]} == cycles


def test_totals_are_those_of_the_page(level: tuple[Run, str]) -> None:
    known, prefix = level
    for row in table(f"{prefix}totals"):
        assert getattr(known.trace, row["quantity"]) == number(row["cycles"]), row["quantity"]


def test_bytes_are_those_of_the_page(order: Run) -> None:
    booked = ledger(order.program)
    expected = {row["counter"]: number(row["bytes"]) for row in table("bytes")}
    counters = [field.name for field in fields(Ledger) if field.name.endswith("_bytes")]
    assert {name: getattr(booked, name) for name in counters} == expected


def test_picture_shows_the_trace(level: tuple[Run, str]) -> None:
    known, prefix = level
    lines = block(f"gantt {prefix.strip() or 'order'}").splitlines()
    names = [engine.label for engine in known.program.engines]
    makespan = known.trace.makespan
    assert lines == [f"{name:14}{picture(page_gaps(prefix, name), makespan)}" for name in names]


def picture(gaps: list[Gap], makespan: int) -> str:
    """An engine's line of the picture, from its gaps."""
    cycles = "#" * makespan
    for begin, end, name, _ in gaps:
        cycles = cycles[:begin] + GANTT_CHARACTERS[name] * (end - begin) + cycles[end:]
    cells = [cycles[at : at + GANTT_CYCLES] for at in range(0, makespan, GANTT_CYCLES)]
    marks = GANTT_CHARACTERS.values()
    return "".join("#" if "#" in cell else max(marks, key=cell.count) for cell in cells)


# --- Across layers ----------------------------------------------------------------------------


def page_cycles() -> dict[int, tuple[int, int]]:
    """Hold and latency of every instruction."""
    return {
        number(row["no."]): (number(row["hold"]), number(row["latency"]))
        for row in table("instructions")
    }


def page_units() -> dict[int, dict[str, int]]:
    """Engine and channels of every instruction, with cycles."""
    found = {}
    for row in table("instructions"):
        cell = row["channels and cycles"]
        items = [] if cell == ABSENT else cell.split(", ")
        pairs = (item.rpartition(" ") for item in items)
        taken = {name: int(cycles) for name, _, cycles in pairs}
        found[number(row["no."])] = {**taken, row["engine"]: number(row["hold"])}
    return found


def test_paths_add_up() -> None:
    """Longest chains, from the page's own conflicts and cycles."""
    conflicts = page_conflicts("full ")
    longest: dict[int, int] = {}
    for n, cycles in sorted(page_cycles().items(), reverse=True):
        later = (m for m in longest if n in {before for before, _ in conflicts[m]})
        longest[n] = sum(cycles) + max((longest[m] for m in later), default=0)
    assert {number(row["no."]): number(row["path"]) for row in table("full")} == longest


def test_estimates_are_those_of_the_list_scheduler() -> None:
    """The rule as the page states it, on the page's own numbers."""
    path = {number(row["no."]): number(row["path"]) for row in table("full")}
    conflicts = {n: {before for before, _ in found} for n, found in page_conflicts("full ").items()}
    cycles, units = page_cycles(), page_units()
    free: dict[str, int] = {}
    start: dict[int, int] = {}

    def earliest(n: int) -> int:
        ends = [start[before] + sum(cycles[before]) for before in conflicts[n]]
        return max([0, *ends, *(free.get(unit, 0) for unit in units[n])])

    while len(start) < len(path):
        ready = [n for n in path if n not in start and conflicts[n] <= start.keys()]
        best = min(ready, key=lambda n: (earliest(n), -path[n], n))
        start[best] = earliest(best)
        free |= {unit: start[best] + taken for unit, taken in units[best].items()}
    assert {number(row["no."]): number(row["estimate"]) for row in table("full")} == start


def test_new_numbers_follow_the_estimates() -> None:
    rows = table("full")
    keys = [(number(row["estimate"]), number(row["no."])) for row in rows]
    assert [number(row["new no."]) for row in rows] == list(range(len(table("instructions"))))
    assert keys == sorted(keys)


def test_an_instruction_is_called_the_same_in_every_table() -> None:
    called = {row["no."]: (row["what"], row["engine"]) for row in table("instructions")}
    assert {row["no."]: (row["what"], row["engine"]) for row in table("full")} == called
