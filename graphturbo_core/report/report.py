"""Report: plain rows, named arrays and the contract's JSON: the library's only result."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import CapacityError
from graphturbo_core.report.contract import Contract
from graphturbo_core.report.tables import Tables

MAX_FILE_BYTES = 512 * 2**20
"""Largest text that is unpacked: 1.2 million lines of a program have some 250 MiB."""
FILE = "file "
"""Prefix of the names of files among the arrays of an archive."""


@dataclass(frozen=True)
class Report:
    """Results of one run (one strategy on one model and chip) for display.

    Entries marked * exist only with `has_pictures`.

    `contract`: the JSON that `run --json` prints (design, section 7).
    `tables`, each a tuple of flat rows:
      round     one row, of the round that arrays and engines describe: cycles (until its last
                barrier), longest_chain_cycles, cross_layer_overlap (share of the cores' cycles),
                layers_in_flight (share of the cycles with two or more), memory_under_compute
                (share), repeats (rounds of its size over all clusters), clusters (of the chip)
      rounds    a row per distinct round of a cluster with the largest share, in order of execution:
                samples, count, cycles (of one), is_drawn (the arrays describe this one)
      engines   index, kind, core, cores (that this one represents), label
      layers    index, name, op_types, group (name), lb_peak_bytes, lb_mean_bytes, gb_peak_bytes,
                start_s, end_s, macs, model_macs (of the undecomposed model at the whole batch),
                dram_bytes, gb_bytes, matrix_cycles, vector_cycles, move_cycles, dma_cycles,
                matrix_utilization, window_s
      roofs     one row, of one cluster: matrix_macs_per_s, vector_macs_per_s, dram_bytes_per_s,
                gb_bytes_per_s
      groups    index, name, layers (that its ops belong to), ops, split_axis, pieces, along
                (`axis 0`, `axes 2 in 8 and 3 in 4`, empty where it is whole), covered_ops,
                peak_bytes, why, why_not, outputs (tensors read by others), binding (their division
                over cores), scope (the memories from which others read them)
      kernels   index, name, group, start_cycle, end_cycle, least_cycles (lower bound over orders
                of its instructions and choices of addresses), layers (as above)
      decisions index, step, rule, subject, taken, numbers (text), counts, pieces, axis, peak_bytes
      splits    part (sub-graph or layer), index, name, axis, possible, pieces, covered_ops, ops,
                peak_bytes (of the largest piece), whole_peak_bytes, capacity_bytes, taken
                (Algorithm 1; at most 5,000)
      ready     index, run, ready (Algorithm 3, newest last)
      bindings  kernel, tensor, op, binding (nested list as text), axes, scope
      stalls    engine (label), kind, busy, data, address, channel, barrier, idle (cycles)
      ledger    memory (DRAM/GB), cause, bytes
      compared_batches  cluster_batch, status (searched, first plan, refused, gain, plan bound,
                bound), least_cycles (no schedule with it takes fewer; 0: unknown),
                closed_form_cycles, cycles (0: none was simulated), is_traffic (cycles of DRAM),
                is_taken; only of a plan that `best` found without `@N`
      graph_nodes*  index, op, op_type, layer, group (index), rank, x_fine, x_coarse,
                output_shapes, weight_shapes (lists of sizes), attributes (text)
      graph_edges*  source, target (graph_nodes' index; -1: graph input), tensor, shape, bytes
      chip      key, value, source, is_assumption
      spaces*   index, memory (GB, LB data, LB weight; LB where it is one pool), core (-1: GB),
                cores, capacity_bytes, buffers, listed (buffers in the arrays)
      stretches* one row or none, the longest stretch of memory_under_compute: start_cycle,
                end_cycle, moved (`weights arrive`), memory_layers, compute_layers (`37-39`)
      tensors*  index, tensor, kind (activation, weight, input, output), axes; of `buffer_tensor`
      stages*   index, title, first_layer, last_layer: what the model's names or shapes divide it in
      pieces*   a row per kernel: kernel, cluster, axis, first, end, extent (its part of the first
                axis that its sub-graph is split along; axis -1: whole), second_axis, second_first,
                second_end, second_extent (of the second axis)
      reasons*  group, is_merged (a merge that was made, else one refused), cause, times (merges),
                fewest_pieces, most_pieces (of the parts), other_layer (the next one of the other
                parts; -1: none), other_parts, rule (its sentence where the cause is `other`)
      raised*   group, pieces_before (by Algorithm 1), piece_bytes (a piece's), core_bytes_before,
                core_bytes (of the fullest core): sub-graphs in more pieces than Algorithm 1 needs
      next_best*  group, how (split, divided, joined), groups, pieces, along, more_cycles; of `best`
      otherwise*  layers, is_rest (all others), groups, kernels, cycles (of a round by the paper's
                method), best_groups, best_kernels, best_cycles (of the same layers); of `best`
    `arrays`, one entry an instruction in sequence order, unless said otherwise:
      start, hold, visible (cycles, int64), engine, kind, layer, group, kernel, op, tile, wait,
      wait_on, size_bytes, busy (cycles, summed over the cores that it represents).
      All following arrays are *.
      Per instruction: moved_tensor (index of `tensors`; -1: a compute), box_lo and box_hi (of its
      op's result or of a move's target; one column per axis, of which the first box_axes count).
      chain: the instructions of the longest dependency chain, in its order.
      Per stretch of the critical path, in time order: path_instruction (-1: launch, barrier),
      path_start, path_end, path_resource (Resource), path_holds_up (Wait of the next stretch).
      Per memory and cause of an instruction's bytes: booked_instruction, booked_memory (0 DRAM,
      1 GB), booked_cause (Cause), booked_bytes.
      Step functions: gb_cycle, gb_bytes, lb_cycle, lb_bytes (worst core), with the capacities in
      the contract; flight_cycle, flight_layers (layers in flight).
      Per stretch: under_start, under_end (memory works for one layer while another computes);
      overlap_core, overlap_start, overlap_end (a core runs two or more layers).
      Per buffer of LB and GB, by space: buffer_space, buffer_offset, buffer_size_bytes,
      buffer_from, buffer_to (cycles), buffer_tensor, buffer_op, buffer_before and buffer_after
      (previous and next buffer at its bytes; -1: none), buffer_lo and buffer_hi (its box, one
      column per axis).
    `files`: the files of `--emit`, compressed: `plan`, `program` and `edits`
      (docs/plan-files.md).
    """

    contract: Contract
    tables: Tables
    arrays: Mapping[str, NDArray[np.generic]]
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))

    def text(self, name: str) -> str:
        """The text of one of `files`.

        Raises:
            CapacityError: FILE_TOO_LARGE, it has more than `MAX_FILE_BYTES`.
        """
        unpacked = zlib.decompressobj()
        data = unpacked.decompress(self.files[name], MAX_FILE_BYTES)
        if unpacked.unconsumed_tail:
            what = f"the {name} has more than {MAX_FILE_BYTES} bytes"
            raise CapacityError("FILE_TOO_LARGE", what, change="choose a smaller batch or model")
        return data.decode()

    def with_files(self, files: Mapping[str, Iterable[str]]) -> Report:
        """The same report with these files; each is an iterable of parts of its text."""
        return replace(self, files={name: _packed(pieces) for name, pieces in files.items()})

    def to_bytes(self) -> bytes:
        """JSON and arrays as one npz archive, without pickle."""
        text = json.dumps({"contract": self.contract, "tables": self.tables}, allow_nan=False)
        stream = io.BytesIO()
        header = np.frombuffer(text.encode(), dtype=np.uint8)
        files = {f"{FILE}{n}": np.frombuffer(d, dtype=np.uint8) for n, d in self.files.items()}
        np.savez(stream, header=header, **dict(self.arrays), **files)  # type: ignore[arg-type]
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Report:
        """The report from `to_bytes`; never unpickles."""
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        text = json.loads(arrays.pop("header").tobytes())
        files = {
            name.removeprefix(FILE): arrays.pop(name).tobytes()
            for name in [name for name in arrays if name.startswith(FILE)]
        }
        tables = cast(Tables, {name: tuple(rows) for name, rows in text["tables"].items()})
        return cls(contract=text["contract"], tables=tables, arrays=arrays, files=files)


def _packed(pieces: Iterable[str]) -> bytes:
    """The joined and compressed pieces."""
    packer = zlib.compressobj()
    parts = [packer.compress(piece.encode()) for piece in pieces]
    return b"".join([*parts, packer.flush()])
