"""Listings: every line equals its instruction, recomputed from the program's arrays."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.export import program_text
from graphturbo_core.export.program_diff import program_differences
from graphturbo_core.export.program_text import program_lines
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from tests.lowering.nets import chip, plan_of
from tests.strategies.samples import weighted

MODEL = (
    "g (float[1,8,8,8] x, float[8,8,3,3] w, float[8,8,3,3] v) => (float[1,8,8,8] y)"
    "{ a = Conv <pads = [1,1,1,1]> (x, w) b = Conv <pads = [1,1,1,1]> (a, v) y = Add (b, a) }"
)
LINE = re.compile(
    r" *(?P<sequence>\d+) +(?P<segment>\d+) (?P<engine>\S+) +(?P<kind>\w+) +(?P<hold>\d+)"
    r"(\+(?P<latency>\d+))? +(?P<size>\d+) (?P<cause>\S+) +(?P<name>\S+) +\[(?P<box>[^\]]*)\] +"
    r"(?P<reads>.*) -> (?P<writes>[^<]*?)( < (?P<waits>.*))?"
)
BUFFER = re.compile(r"(LB|WB|ST|GB|DRAM)(\d*)\[(\d+):(\d+)\]")
MEMORY = {
    "LB": Memory.LB_DATA, "WB": Memory.LB_WEIGHT, "ST": Memory.STAGING, "GB": Memory.GB,
    "DRAM": Memory.DRAM,
}  # fmt: skip


def program(strategy: str = "graphturbo", cores: int = 2) -> Program:
    return lower(plan_of(weighted(MODEL), strategy, replace(chip("generic-4x4"), cores=cores)))


def text(found: Program) -> str:
    return "".join(program_lines(found, "m, s on c"))


def touched(found: Program, row: int, is_write: bool) -> list[tuple[object, ...]]:
    buffers = found.buffers
    return [
        (
            Memory(int(buffers.memory[number])),
            str(buffers.core[number]) if buffers.core[number] >= 0 else "",
            int(buffers.offset[number]),
            int(buffers.offset[number] + buffers.size_bytes[number]),
        )
        for at in range(found.access_at[row], found.access_at[row + 1])
        for number in [found.access_buffer[at]]
        if bool(found.access_write[at]) == is_write
    ]


def said(buffers: str) -> list[tuple[object, ...]]:
    return [
        (MEMORY[memory], core, int(first), int(end))
        for memory, core, first, end in BUFFER.findall(buffers)
    ]


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo", "layerwise"])
def test_a_line_says_what_its_instruction_is(strategy: str) -> None:
    found = program(strategy)
    lines = [line for line in text(found).splitlines() if not line.startswith("#")]
    assert len(lines) == found.size
    ops = found.plan.semantics.graph.ops
    for row, line in enumerate(lines):
        parts = LINE.fullmatch(line)
        assert parts is not None, line
        engine = found.engines[found.engine[row]]
        core = f"{engine.core}.{engine.kind.value}" if engine.core >= 0 else f"dma.{engine.index}"
        kind = InstructionKind(int(found.kind[row]))
        cause = Cause(int(found.cause[row]))
        assert (int(parts["sequence"]), int(parts["segment"])) == (row, found.segment[row])
        assert (parts["engine"], parts["kind"]) == (f"0.{core}", kind.name.lower())
        assert (int(parts["hold"]), int(parts["size"])) == (
            found.hold_cycles[row], found.size_bytes[row],
        )  # fmt: skip
        assert int(parts["latency"] or 0) == found.latency_cycles[row]
        assert parts["cause"] == (cause.name.lower() if cause else "-")
        assert said(parts["reads"]) == touched(found, row, is_write=False)
        assert said(parts["writes"]) == touched(found, row, is_write=True)
        if kind is InstructionKind.COMPUTE:
            assert parts["name"] == ops[found.op[row]].name
            box = [
                f"{a}:{b}" for a, b in zip(found.result_lo[row], found.result_hi[row], strict=True)
            ]
            assert parts["box"].split(",") == box[: parts["box"].count(",") + 1]
        waits = sorted(
            (int(found.conflict[at]), "a" if found.is_address_conflict[at] else "")
            for at in range(found.conflict_at[row], found.conflict_at[row + 1])
        )
        assert parts["waits"] == (" ".join(f"{n}{a}" for n, a in waits) if waits else None)


def test_columns_are_aligned_and_the_head_names_every_kernel() -> None:
    found = program("tvm")
    lines = text(found).splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert len({line.index("[") for line in rows}) == 1
    assert len({line.index(" -> ") - len(line.split(" -> ")[0]) for line in rows}) == 1
    heads = [line for line in lines if line.startswith("# kernel ")]
    assert [line.split()[2] for line in heads] == [kernel.name for kernel in found.plan.kernels]
    spans = [tuple(map(int, re.findall(r"instructions (\d+) to (\d+)", line)[0])) for line in heads]
    assert spans[0][0] == 0
    assert spans[-1][1] == found.size - 1
    assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))


def test_pieces_of_a_listing_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    found = program()
    whole = text(found)
    monkeypatch.setattr(program_text, "CHUNK_LINES", 7)
    assert text(found) == whole


def test_a_name_that_would_break_a_line_does_not() -> None:
    found = program("tvm")
    graph = found.plan.semantics.graph
    ops = tuple(replace(op, name=op.name + "\n0 0 x") for op in graph.ops)
    semantics = replace(found.plan.semantics, graph=replace(graph, ops=ops))
    forged = replace(found, plan=replace(found.plan, semantics=semantics))
    assert len(text(forged).splitlines()) == len(text(found).splitlines())


def test_equal_programs_have_no_difference_and_others_do() -> None:
    one, two, four = program(), program("tvm"), program(cores=4)
    assert program_differences(text(one), text(program())) == []
    rows = program_differences(text(one), text(two))
    kernels = [row.subject for row in rows if row.part == "kernels"]
    assert set(kernels) >= {"g2/1"}  # tvm has more kernels than the one group
    rows = program_differences(text(one), text(four))
    engines = {row.subject: (row.a, row.b) for row in rows if row.part == "instructions by engine"}
    assert engines["0.3.matrix"][0] == "0"
    first = next(row for row in rows if row.part == "kernels")
    assert first.subject.startswith("g1/1, its instruction ")


def test_a_kernel_that_comes_later_is_compared_from_its_own_start() -> None:
    """Only the first kernel is changed: the second is the same, though its numbers differ."""
    before = text(program("tvm")).splitlines()
    rows = [line for line in before if not line.startswith("#")]
    (span,) = re.findall(r"instructions 0 to (\d+)", "\n".join(before))
    count = int(span)
    moved = []
    for line in before:
        if line.startswith("# kernel "):
            numbers = re.findall(r"\d+ to \d+", line)[0]
            first, last = map(int, numbers.split(" to "))
            shifted = f"{first - (first > 0)} to {last - 1}"
            moved.append(line.replace(numbers, shifted))
        elif line.startswith("#"):
            moved.append(line)
    for row, line in enumerate(rows):
        if row == count:
            continue  # the last instruction of the first kernel is left out
        said_first, _, waits = line.partition(" < ")
        shift = int(row > count)
        numbers_of = [
            f"{int(w.rstrip('a')) - shift}{'a' if w.endswith('a') else ''}" for w in waits.split()
        ]
        columns = said_first.split(None, 1)
        tail = f" < {' '.join(numbers_of)}" if numbers_of else ""
        moved.append(f"{int(columns[0]) - shift} {columns[1]}{tail}")
    found = program_differences("\n".join(before), "\n".join(moved))
    kernels = [row for row in found if row.part == "kernels"]
    assert [row.subject for row in kernels] == [f"g1/1, its instruction {count}"]
    assert kernels[0].b == "-"


def test_a_line_that_is_none_is_refused() -> None:
    lines = text(program()).splitlines()
    with pytest.raises(PlanError, match=r"line 3 is no line of a program"):
        program_differences("\n".join([*lines[:2], "hello", *lines[3:]]), text(program()))
