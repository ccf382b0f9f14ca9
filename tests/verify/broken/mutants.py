"""Kinds of faults in computes, put into a correct Program one at a time (see `picking.Kind`)."""

from __future__ import annotations

from random import Random

from graphturbo_core.products.program import Memory
from tests.verify.broken.picking import computes_of, pick, shifted, shorter, told_of
from tests.verify.draft import Access, Draft

MATMULS = ("Conv", "Gemm", "MatMul")


def compute_dropped(draft: Draft, random: Random) -> str | None:
    """a compute dropped"""
    row = random.choice(computes_of(draft))
    told = told_of(draft, row, "dropped")
    draft.drop(row)
    return told


def compute_repeated(draft: Draft, random: Random) -> str | None:
    """a compute done twice"""
    row = random.choice(computes_of(draft))
    told = told_of(draft, row, "repeated")
    draft.repeat(row)
    return told


def operand_short(draft: Draft, random: Random) -> str | None:
    """an operand one slice short"""
    row = random.choice(computes_of(draft))
    access = random.choice(row.reads)
    box = shorter(access.box, random)
    if box is None:
        return None
    access.box = box
    return told_of(draft, row, f"reads only {box}")


def operand_shifted(draft: Draft, random: Random) -> str | None:
    """an operand read from the wrong place"""
    row = random.choice(computes_of(draft))
    access = random.choice(row.reads)
    box = shifted(access.box, draft.boxes[access.buffer], random)
    if box is None:
        return None
    access.box = box
    return told_of(draft, row, f"reads {box}")


def other_slot(draft: Draft, random: Random) -> str | None:
    """weights of another buffer of the core used"""
    found = []
    for row in computes_of(draft):
        for access in row.reads:
            here = [draft.buffers[name][access.buffer] for name in ("memory", "core", "tensor")]
            if here[0] != Memory.LB_WEIGHT:
                continue
            found += [
                (row, access, other)
                for other in range(len(draft.boxes))
                if other != access.buffer
                and [draft.buffers[n][other] for n in ("memory", "core", "tensor")] == here
            ]
    chosen = pick(random, found)
    if chosen is None:
        return None
    row, access, other = chosen
    access.buffer = other
    access.box = draft.boxes[other]
    return told_of(draft, row, f"reads weights in buffer {other}")


def operands_swapped(draft: Draft, random: Random) -> str | None:
    """two operands that stand for each other"""
    rows = [row for row in computes_of(draft) if len({a.tensor for a in row.reads}) > 1]
    row = pick(random, rows)
    if row is None:
        return None
    one, other = random.sample(row.reads, 2)
    one.tensor, other.tensor = other.tensor, one.tensor
    return told_of(draft, row, f"{draft.op_type(row)} takes its operands for each other")


def operand_left_out(draft: Draft, random: Random) -> str | None:
    """an operand that is not read"""
    row = random.choice(computes_of(draft))
    row.accesses.remove(random.choice(row.reads))
    return told_of(draft, row, "reads one operand less")


def operand_too_many(draft: Draft, random: Random) -> str | None:
    """a read that the op does not need"""
    row, other = random.sample(computes_of(draft), 2)
    access = random.choice(other.reads)
    row.accesses.insert(0, Access(access.buffer, False, access.box, access.tensor))
    row.after.setdefault(other, False)
    return told_of(draft, row, "reads one operand more")


def read_turned_write(draft: Draft, random: Random) -> str | None:
    """a read turned into a write, or the other way round"""
    row = random.choice(draft.rows)
    access = random.choice(row.accesses)
    access.is_write = not access.is_write
    return told_of(draft, row, "reads what it wrote, or the other way round")


def result_shifted(draft: Draft, random: Random) -> str | None:
    """a result with another box"""
    row = random.choice(computes_of(draft))
    name = draft.names[row.writes[0].tensor]
    shape = draft.program.plan.semantics.graph.tensors[name].shape
    box = shifted(row.result[: len(shape)], tuple((0, size) for size in shape), random)
    if box is None:
        return None
    row.result = box
    return told_of(draft, row, f"computes {box}")


def write_shifted(draft: Draft, random: Random) -> str | None:
    """a result written to the wrong place"""
    row = random.choice(computes_of(draft))
    (write,) = row.writes
    box = shifted(write.box, draft.boxes[write.buffer], random)
    if box is None:
        return None
    write.box = box
    return told_of(draft, row, f"writes {box}")


def concat_offset(draft: Draft, random: Random) -> str | None:
    """a wrong offset in a concat"""
    rows = [r for r in computes_of(draft) if r.writes[0].box != r.result[: len(r.writes[0].box)]]
    row = pick(random, rows)
    if row is None:
        return None
    (write,) = row.writes
    axis = next(a for a, pair in enumerate(write.box) if pair != row.result[a])
    lo, size = write.box[axis][0], write.box[axis][1] - write.box[axis][0]
    low, high = draft.boxes[write.buffer][axis]
    begins = [at for at in range(low, high - size + 1) if at != lo]
    if not begins:
        return None
    begin = random.choice(begins)
    write.box = (*write.box[:axis], (begin, begin + size), *write.box[axis + 1 :])
    return told_of(draft, row, f"writes {write.box}")


def compute_on_another_core(draft: Draft, random: Random) -> str | None:
    """a compute on another core's engine"""
    row, engines = random.choice(computes_of(draft)), draft.program.engines
    kind = engines[row.at["engine"]].kind
    same = [e for e, engine in enumerate(engines) if engine.kind is kind]
    row.at["engine"] = random.choice([e for e in same if e != row.at["engine"]])
    return told_of(draft, row, f"on {engines[row.at['engine']].label}")


def compute_too_fast(draft: Draft, random: Random) -> str | None:
    """a compute of the wrong length"""
    row = random.choice(computes_of(draft))
    row.at["hold_cycles"] += random.choice([1, -1]) if row.at["hold_cycles"] > 1 else 1
    return told_of(draft, row, f"in {row.at['hold_cycles']} cycles")


def wrong_op(draft: Draft, random: Random) -> str | None:
    """an instruction of another op"""
    row = random.choice(draft.rows)
    count = len(draft.program.plan.semantics.graph.ops)
    other = pick(random, [op for op in range(count) if op != row.at["op"]])
    if other is None:
        return None
    row.at["op"] = other
    return told_of(draft, row, f"for op {row.at['op']}")


def not_cleared(draft: Draft, random: Random) -> str | None:
    """an accumulator that is not cleared"""
    rows = [row for row in computes_of(draft) if draft.op_type(row) in MATMULS]
    row = pick(random, [row for row in rows if row.at["reduce_lo"] == 0])
    if row is None:
        return None
    (write,) = row.writes
    row.accesses.insert(0, Access(write.buffer, False, write.box, write.tensor))
    return told_of(draft, row, "adds to what its accumulator holds")


def sum_lost(draft: Draft, random: Random) -> str | None:
    """an accumulator cleared between cuts of K"""
    row = pick(random, [row for row in computes_of(draft) if row.at["reduce_lo"] > 0])
    if row is None:
        return None
    (write,) = row.writes
    (sums,) = [access for access in row.reads if access.tensor == write.tensor]
    row.accesses.remove(sums)
    return told_of(draft, row, "forgets the sums of before")


def cut_shifted(draft: Draft, random: Random) -> str | None:
    """a wrong cut of K"""
    row = pick(random, [row for row in computes_of(draft) if row.at["reduce_hi"] > 0])
    if row is None:
        return None
    end = random.choice(["reduce_lo", "reduce_hi"])
    row.at[end] += -1 if row.at[end] > 0 else 1
    return told_of(draft, row, f"K from {row.at['reduce_lo']} to {row.at['reduce_hi']}")
