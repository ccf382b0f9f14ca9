"""Program -> earliest start and remaining time of each instruction in its kernel.

Both are bounds for every order of the kernel's instructions. They are known as heads and tails in
job-shop scheduling.
"""

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
"""Maximum steps per kernel for the sets of `_join`: some ten milliseconds (our choice)."""
WORD = 64
"""Bits per word of a set."""
FAR = np.int64(1) << 60
"""Distance if there is no path."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Instructions of one kernel, numbered from 0.

    Instruction `after` needs the data of `before`; sorted by `after`. `user`, sorted: an engine or
    channel that the instruction in `row` occupies for `busy` cycles, `lead` cycles after its start.
    """

    cycles: IntArray
    after: IntArray
    before: IntArray
    user: IntArray
    row: IntArray
    busy: IntArray
    lead: IntArray

    def key(self) -> bytes:
        """Digest; kernels of equal digests have equal earliest starts and remaining times."""
        columns = (self.cycles, self.after, self.before, self.user, self.row, self.busy)
        sizes = np.array([len(column) for column in columns])
        return blake2b(b"".join(column.tobytes() for column in (sizes, *columns))).digest()

    def reversed(self) -> _Kernel:
        """The kernel with time reversed."""
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


def starts_and_remaining(program: Program) -> tuple[IntArray, IntArray]:
    """Cycles from the kernel's start to each instruction, and from its end to the kernel's; (n,).

    Lower bounds for every order of instructions and every assignment of addresses:

    1. An instruction waits for the longest chain of instructions whose data it needs.
    2. An engine or channel runs all instructions that this one needs, directly or not, one after
       the other. The first cannot start before its own earliest start. After the last one follows
       at least the shortest path from any of them to this instruction.

    Remaining times are the same bounds with time reversed. Rule 2 is applied to the busiest engines
    and channels, while `ROOM` lasts. Cost: n log n in instructions; equivalent kernels are computed
    once.
    """
    start = np.zeros(len(program.kernel), dtype=np.int64)
    remaining = np.zeros(len(program.kernel), dtype=np.int64)
    known: dict[bytes, tuple[IntArray, IntArray]] = {}
    for rows, kernel in _kernels(program):
        key = kernel.key()
        if key not in known:
            known[key] = (_earliest(kernel), _earliest(kernel.reversed())[::-1])
        start[rows], remaining[rows] = known[key]
    return start, remaining


def _kernels(program: Program) -> Iterator[tuple[IntArray, _Kernel]]:
    """Per kernel, the rows of its instructions, and its `_Kernel`."""
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


def _earliest(kernel: _Kernel) -> IntArray:
    """Earliest start of each instruction, in cycles from the kernel's start."""
    size = len(kernel.cycles)
    user_at = np.flatnonzero(np.diff(kernel.user, prepend=-1, append=-1))
    rest = kernel.cycles[kernel.row] - kernel.lead - kernel.busy
    return _raised(
        (kernel.cycles, np.searchsorted(kernel.after, np.arange(size + 1)), kernel.before),
        (kernel.row, kernel.lead, kernel.busy, rest),
        user_at,
        _busiest(user_at, kernel.busy, WORD * size + len(kernel.after)),
    )


def _busiest(user_at: IntArray, busy: IntArray, cost: int) -> IntArray:
    """The busiest users whose sets cost at most `ROOM`; `cost`: steps per word of a set."""
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
    busiest: IntArray,
) -> IntArray:
    """Earliest starts: rule 1, then rule 2 for one user after the other."""
    cycles, at, before = needs
    row, lead, busy, rest = uses
    start = np.zeros(len(cycles), np.int64)
    for step in range(len(cycles)):
        for place in range(at[step], at[step + 1]):
            start[step] = max(start[step], start[before[place]] + cycles[before[place]])
    for user in busiest:
        begin, end = user_at[user], user_at[user + 1]
        uses_of_user = (row[begin:end], lead[begin:end], busy[begin:end], rest[begin:end])
        _join(start, needs, uses_of_user)
    return start


@compiled_part
def _join(
    start: IntArray,
    needs: tuple[IntArray, IntArray, IntArray],
    uses: tuple[IntArray, IntArray, IntArray, IntArray],
) -> None:
    """Raise earliest starts by rule 2 for one engine or channel, the user.

    `needed`: per instruction, the set of instructions that it needs and that occupy the user.
    `path`: cycles of the shortest path to it from the end of such a use; `FAR`: there is none.
    """
    cycles, at, before = needs
    row, lead, busy, rest = uses
    needed = np.zeros((len(cycles), -(-len(row) // WORD)), np.uint64)
    path = np.full(len(cycles), FAR)
    use = np.full(len(cycles), -1, np.int64)
    for index in range(len(row)):
        use[row[index]] = index
    for step in range(len(cycles)):
        for place in range(at[step], at[step + 1]):
            need = before[place]
            start[step] = max(start[step], start[need] + cycles[need])
            through = path[need] + cycles[need]
            for word in range(needed.shape[1]):
                needed[step, word] |= needed[need, word]
            if use[need] >= 0:
                needed[step, use[need] // WORD] |= np.uint64(1) << np.uint64(use[need] % WORD)
                through = min(through, rest[use[need]])
            path[step] = min(path[step], through)
        if path[step] < FAR and _is_new(needed, before[at[step] : at[step + 1]], step):
            first, total = FAR, np.int64(0)
            for index in range(len(row)):
                if needed[step, index // WORD] >> np.uint64(index % WORD) & np.uint64(1):
                    first = min(first, start[row[index]] + lead[index])
                    total += busy[index]
            start[step] = max(start[step], first + total + path[step])


@compiled_part
def _is_new(needed: NDArray[np.uint64], needs: IntArray, step: int) -> bool:
    """Whether no direct need has the same set; if one has it, rule 1 gives the same bound."""
    for need in needs:
        is_same = True
        for word in range(needed.shape[1]):
            is_same = is_same and needed[need, word] == needed[step, word]
        if is_same:
            return False
    return True
