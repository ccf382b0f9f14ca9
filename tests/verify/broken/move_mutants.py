"""Kinds of faults in moves, put into a correct Program one at a time (see `picking.Kind`)."""

from __future__ import annotations

from random import Random

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Cause, InstructionKind
from tests.verify.broken.picking import moves_of, pick, shifted, shorter, told_of
from tests.verify.draft import Draft


def move_dropped(draft: Draft, random: Random) -> str | None:
    """a move dropped"""
    row = pick(random, moves_of(draft))
    if row is None:
        return None
    told = told_of(draft, row, "dropped")
    draft.drop(row)
    return told


def exchange_dropped(draft: Draft, random: Random) -> str | None:
    """a halo exchange dropped"""
    row = pick(random, moves_of(draft, InstructionKind.EXCHANGE))
    if row is None:
        return None
    told = told_of(draft, row, "dropped")
    draft.drop(row)
    return told


def move_short(draft: Draft, random: Random) -> str | None:
    """a move one slice short"""
    row = pick(random, [row for row in moves_of(draft) if len(row.accesses) == 2])
    box = None if row is None else shorter(row.accesses[0].box, random)
    if row is None or box is None:
        return None
    for access in row.accesses:
        access.box = box
    draft.charge(row)
    return told_of(draft, row, f"only {box}")


def halo_short(draft: Draft, random: Random) -> str | None:
    """a halo one row short"""
    rows = moves_of(draft, InstructionKind.EXCHANGE)
    rows += [row for row in moves_of(draft) if row.at["halo_bytes"]]
    row = pick(random, [r for r in rows if len(r.reads[0].box) > 2])
    if row is None:
        return None
    axis, box = 2, row.reads[0].box
    lo, hi = box[axis]
    if hi - lo == 1:
        draft.drop(row)
        return f"a halo of one row is not brought: {box}"
    box = (*box[:axis], random.choice([(lo + 1, hi), (lo, hi - 1)]), *box[axis + 1 :])
    for access in row.accesses:
        access.box = box
    draft.charge(row)
    return told_of(draft, row, f"only {box}")


def move_from_elsewhere(draft: Draft, random: Random) -> str | None:
    """a halo from the wrong neighbour, or a move from another buffer of its tensor"""
    found = []
    for row in moves_of(draft):
        (read,) = row.reads
        taken = {access.buffer for access in row.accesses}
        found += [
            (row, other)
            for other, tensor in enumerate(draft.buffers["tensor"])
            if other not in taken and tensor == draft.buffers["tensor"][read.buffer]
        ]
    chosen = pick(random, found)
    if chosen is None:
        return None
    row, other = chosen
    row.reads[0].buffer = other
    return told_of(draft, row, f"reads buffer {other}")


def move_shifted_source(draft: Draft, random: Random) -> str | None:
    """a move that reads the wrong place"""
    row = pick(random, moves_of(draft))
    if row is None:
        return None
    (read,) = row.reads
    box = shifted(read.box, draft.boxes[read.buffer], random)
    if box is None:
        return None
    read.box = box
    return told_of(draft, row, f"reads {box}")


def store_shifted(draft: Draft, random: Random) -> str | None:
    """a store to the wrong place"""
    row = pick(random, moves_of(draft, InstructionKind.STORE))
    if row is None:
        return None
    (write,) = row.writes
    box = shifted(write.box, draft.boxes[write.buffer], random)
    if box is None:
        return None
    write.box = box
    return told_of(draft, row, f"writes {box}")


def weights_of_another_tile(draft: Draft, random: Random) -> str | None:
    """weights of the wrong tile fetched"""
    rows = moves_of(draft, InstructionKind.PREFETCH)
    found = [
        (row, other.reads[0].box)
        for row in rows
        for other in rows
        if row.reads[0].buffer == other.reads[0].buffer and row.reads[0].box != other.reads[0].box
    ]
    chosen = pick(random, found)
    if chosen is None:
        return None
    row, box = chosen
    row.reads[0].box = box
    draft.charge(row)
    return told_of(draft, row, f"reads {box}")


def target_dropped(draft: Draft, random: Random) -> str | None:
    """a target of a broadcast dropped"""
    rows = [r for r in moves_of(draft, InstructionKind.BROADCAST) if len(r.writes) > 2]
    row = pick(random, rows)
    if row is None:
        return None
    access = random.choice(row.writes)
    row.accesses.remove(access)
    core = draft.buffers["core"][access.buffer]
    row.channels = [pair for pair in row.channels if pair[0] != core]
    draft.charge(row)
    return told_of(draft, row, f"not to core {core}")


def move_repeated(draft: Draft, random: Random) -> str | None:
    """a move done twice"""
    row = pick(random, moves_of(draft))
    if row is None:
        return None
    told = told_of(draft, row, "repeated")
    draft.repeat(row)
    return told


def move_by_another_engine(draft: Draft, random: Random) -> str | None:
    """a move issued by another core"""
    row = pick(random, [r for r in moves_of(draft) if r.kind is not InstructionKind.PREFETCH])
    engines = draft.program.engines
    moving = [e for e, engine in enumerate(engines) if engine.kind is EngineKind.MOVE]
    if row is None:
        return None
    row.at["engine"] = random.choice([e for e in moving if e != row.at["engine"]])
    return told_of(draft, row, f"on {engines[row.at['engine']].label}")


def wrong_width(draft: Draft, random: Random) -> str | None:
    """a move of elements of half the width"""
    row = pick(random, moves_of(draft))
    if row is None:
        return None
    draft.charge(row)
    row.at["size_bytes"] //= 2
    row.at["halo_bytes"] = min(row.at["halo_bytes"], row.at["size_bytes"])
    row.channels = [(c, -(-cycles // 2)) for c, cycles in row.channels]
    row.at["hold_cycles"] = max(cycles for _, cycles in row.channels)
    return told_of(draft, row, "half its bytes")


def channel_not_taken(draft: Draft, random: Random) -> str | None:
    """a channel outside a move's route"""
    row = pick(random, [row for row in moves_of(draft) if len(row.channels) > 1])
    if row is None:
        return None
    row.channels.remove(random.choice(row.channels))
    row.at["hold_cycles"] = max(cycles for _, cycles in row.channels)
    return told_of(draft, row, f"takes only {row.channels}")


def latency_forgotten(draft: Draft, random: Random) -> str | None:
    """a latency forgotten"""
    row = pick(random, [row for row in moves_of(draft) if row.at["latency_cycles"]])
    if row is None:
        return None
    row.at["latency_cycles"] = 0
    return told_of(draft, row, "no latency")


def wrong_cause(draft: Draft, random: Random) -> str | None:
    """bytes booked to another cause"""
    row = random.choice(moves_of(draft))
    row.at["cause"] = random.choice([cause for cause in Cause if cause != row.at["cause"]])
    return told_of(draft, row, Cause(row.at["cause"]).name)


def called_another_kind(draft: Draft, random: Random) -> str | None:
    """a move called another kind"""
    row = pick(random, moves_of(draft))
    if row is None:
        return None
    others = [k for k in InstructionKind if k not in (row.kind, InstructionKind.COMPUTE)]
    row.at["kind"] = random.choice(others)
    return told_of(draft, row, "by that name only")
