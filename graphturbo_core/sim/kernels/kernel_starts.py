"""Program -> how soon each instruction can start in its kernel, and what must follow it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import IntArray, Program

ROOM = 1 << 24
"""Of a kernel, steps that the sets of `_join` may take: some ten milliseconds (our choice)."""
WORD = 64
"""Bits of a part of a set."""
FAR = np.int64(1) << 60
"""Farther than any way: there is none."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Instructions by their place in it.

    `after` needs the data of `before`, with `after` rising. `user`, rising: an engine or channel
    that the instruction in `row` holds for `busy` of its cycles, from the `lead`-th on.
    """

    cycles: IntArray
    after: IntArray
    before: IntArray
    user: IntArray
    row: IntArray
    busy: IntArray
    lead: IntArray

    def key(self) -> bytes:
        """What tells it from kernels whose heads or tails differ."""
        columns = (self.cycles, self.after, self.before, self.user, self.row, self.busy)
        sizes = np.array([len(column) for column in columns])
        return blake2b(b"".join(column.tobytes() for column in (sizes, *columns))).digest()

    def reversed(self) -> _Kernel:
        """The same, with time running backwards."""
        last = len(self.cycles) - 1
        order = np.argsort(-self.before, kind="stable")
        return replace(
            self,
            cycles=self.cycles[::-1].copy(),
            after=last - self.before[order],
            before=last - self.after[order],
            row=last - self.row,
            lead=self.cycles[self.row] - self.lead - self.busy,
        )


def heads_and_tails(program: Program) -> tuple[IntArray, IntArray]:
    """Cycles from its kernel's start before, and to its last end behind, each instruction; (n,).

    Whatever the order of instructions, and whichever bytes they reuse. An instruction waits for
    the longest chain of those whose data it needs. And of those that it needs, however indirectly,
    an engine or channel does one after the other: not before the first of them can begin, and
    behind whichever comes last there is at least the shortest way from any of them to this one. So
    backwards in time for tails. Engines and channels are looked at by how busy they are, as far as
    `ROOM` goes. n log n in instructions, and in kernels that are alike for one of them.
    """
    head = np.zeros(len(program.kernel), dtype=np.int64)
    tail = np.zeros(len(program.kernel), dtype=np.int64)
    known: dict[bytes, tuple[IntArray, IntArray]] = {}
    for own, kernel in _kernels(program):
        key = kernel.key()
        if key not in known:
            known[key] = (_heads(kernel), _heads(kernel.reversed())[::-1])
        head[own], tail[own] = known[key]
    return head, tail


def _kernels(program: Program) -> Iterator[tuple[IntArray, _Kernel]]:
    """The instructions of each kernel, and what they need of each other."""
    kernel = int64(program.kernel)
    order = np.argsort(kernel, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    after, before = owners(program.conflict_at), int64(program.conflict)
    is_own = (kernel[after] == kernel[before]) & ~program.is_address_conflict
    after, before = place[after[is_own]], place[before[is_own]]
    by_after = np.argsort(after, kind="stable")
    after, before = after[by_after], before[by_after]
    uses = np.stack(
        (
            np.concatenate((int64(program.engine), int64(program.channel) + len(program.engines))),
            np.concatenate((place, place[owners(program.channel_at)])),
            np.concatenate((program.hold_cycles, program.channel_cycles)),
        )
    )
    uses = uses[:, uses[2] > 0]
    uses = uses[:, np.lexsort((uses[1], uses[0], kernel[order][uses[1]]))]
    cuts = np.searchsorted(kernel[order], np.arange(len(program.plan.kernels) + 1))
    edge_cuts = np.searchsorted(after, cuts)
    use_cuts = np.searchsorted(kernel[order][uses[1]], np.arange(len(cuts)))
    cycles = int64(program.hold_cycles + program.latency_cycles)[order]
    for index, (begin, end) in enumerate(pairwise(cuts.tolist())):
        edges = slice(edge_cuts[index], edge_cuts[index + 1])
        user, row, busy = uses[:, use_cuts[index] : use_cuts[index + 1]]
        yield (
            order[begin:end],
            _Kernel(
                cycles[begin:end], after[edges] - begin, before[edges] - begin,
                user.copy(), row - begin, busy.copy(), np.zeros_like(busy),
            ),
        )  # fmt: skip


def _heads(kernel: _Kernel) -> IntArray:
    size = len(kernel.cycles)
    user_at = np.flatnonzero(np.diff(kernel.user, prepend=-1, append=-1))
    rest = kernel.cycles[kernel.row] - kernel.lead - kernel.busy
    return _raised(
        (kernel.cycles, np.searchsorted(kernel.after, np.arange(size + 1)), kernel.before),
        (kernel.row, kernel.lead, kernel.busy, rest),
        user_at,
        _looked_at(user_at, kernel.busy, WORD * size + len(kernel.after)),
    )


def _looked_at(user_at: IntArray, busy: IntArray, cost: int) -> IntArray:
    """The users for which there is room, the busiest first; `cost`: of a word of their sets."""
    if not len(user_at):
        return user_at
    order = np.argsort(-np.add.reduceat(busy, user_at[:-1]), kind="stable")
    words = -(-np.diff(user_at)[order] // WORD)
    return order[np.cumsum(words * cost) <= ROOM]


@compiled
def _raised(
    needs: tuple[IntArray, IntArray, IntArray],
    uses: tuple[IntArray, IntArray, IntArray, IntArray],
    user_at: IntArray,
    looked_at: IntArray,
) -> IntArray:
    """Heads: longest chains of what is needed, then raised for one user after the other."""
    cycles, at, before = needs
    row, lead, busy, rest = uses
    head = np.zeros(len(cycles), np.int64)
    for step in range(len(cycles)):
        for place in range(at[step], at[step + 1]):
            head[step] = max(head[step], head[before[place]] + cycles[before[place]])
    for user in looked_at:
        begin, end = user_at[user], user_at[user + 1]
        own = (row[begin:end], lead[begin:end], busy[begin:end], rest[begin:end])
        _join(head, needs, own)
    return head


@compiled_part
def _join(
    head: IntArray,
    needs: tuple[IntArray, IntArray, IntArray],
    uses: tuple[IntArray, IntArray, IntArray, IntArray],
) -> None:
    """Raise heads by what one user has to do before each instruction.

    `found`: of each instruction the set of those that it needs and that hold the user. `near`: the
    shortest way to it from where one of them leaves the user; `FAR` where there is none.
    """
    cycles, at, before = needs
    row, lead, busy, rest = uses
    found = np.zeros((len(cycles), -(-len(row) // WORD)), np.uint64)
    near = np.full(len(cycles), FAR)
    use = np.full(len(cycles), -1, np.int64)
    for index in range(len(row)):
        use[row[index]] = index
    for step in range(len(cycles)):
        for place in range(at[step], at[step + 1]):
            need = before[place]
            head[step] = max(head[step], head[need] + cycles[need])
            way = near[need] + cycles[need]
            for word in range(found.shape[1]):
                found[step, word] |= found[need, word]
            if use[need] >= 0:
                found[step, use[need] // WORD] |= np.uint64(1) << np.uint64(use[need] % WORD)
                way = min(way, rest[use[need]])
            near[step] = min(near[step], way)
        if near[step] < FAR and _is_new(found, before[at[step] : at[step + 1]], step):
            first, total = FAR, np.int64(0)
            for index in range(len(row)):
                if found[step, index // WORD] >> np.uint64(index % WORD) & np.uint64(1):
                    first = min(first, head[row[index]] + lead[index])
                    total += busy[index]
            head[step] = max(head[step], first + total + near[step])


@compiled_part
def _is_new(found: NDArray[np.uint64], needs: IntArray, step: int) -> bool:
    """Whether none of its needs has the same set: the chain from such a one says as much."""
    for need in needs:
        is_same = True
        for word in range(found.shape[1]):
            is_same = is_same and found[need, word] == found[step, word]
        if is_same:
            return False
    return True
