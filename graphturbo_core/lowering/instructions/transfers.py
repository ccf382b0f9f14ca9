"""Transfers of a kernel's code: its cycles on channels, again at other bandwidths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.instruction_table import ChannelTable, Int64


class Transfer(NamedTuple):
    """Bytes over one channel, by the instruction in a row; `times` and `among` as in `Use`."""

    row: int
    channel: int
    size_bytes: int
    times: int = 1
    among: int = 1


@dataclass(frozen=True)
class Transfers:
    """A kernel's transfers, a row each (n, 5); several may be of one instruction and channel.

    `own_cycles`: of computes that access GB or DRAM, by instruction: their cycles inside LB.
    """

    table: NDArray[np.int64]
    own_cycles: Mapping[int, int]

    @staticmethod
    def of(transfers: Sequence[Transfer], own_cycles: Mapping[int, int]) -> Transfers:
        """The transfers as one array."""
        width = len(Transfer._fields)
        cells = chain.from_iterable(transfers)
        table = np.fromiter(cells, np.int64, count=width * len(transfers)).reshape(-1, width)
        return Transfers(table, own_cycles)

    def at_bandwidths(
        self, held: ChannelTable, hold_cycles: Int64, hardware: Hardware, bandwidths: Sequence[int]
    ) -> tuple[Int64, Int64]:
        """Cycles per row of the channel table and hold cycles, at other bandwidths in bytes/s.

        `held`: the channels that each instruction occupies; `hold_cycles`: with which it was
        emitted.
        """
        row, channel, _, times, among = self.table.T
        kinds, kind = np.unique(self.table[:, 1:3], axis=0, return_inverse=True)
        rates = [hardware.transfer_cycles(size, bandwidths[at]) for at, size in kinds.tolist()]
        cycles = -(-np.array(rates, np.int64)[kind.reshape(-1)] * times // among)
        instruction = np.repeat(np.arange(len(hold_cycles)), np.diff(held.channel_at))
        each = _pair(instruction, held.channel, len(bandwidths))
        order = np.argsort(each)
        place = order[np.searchsorted(each[order], _pair(row, channel, len(bandwidths)))]
        channel_cycles = np.zeros(len(each), np.int64)
        np.add.at(channel_cycles, place, cycles)
        longest = hold_cycles.copy()
        longest[instruction] = 0
        longest[list(self.own_cycles)] = list(self.own_cycles.values())
        np.maximum.at(longest, instruction, channel_cycles)
        return channel_cycles, longest


def _pair(row: Int64, channel: NDArray[np.integer[Any]], channels: int) -> Int64:
    """One number for an instruction and a channel."""
    return row * channels + channel
