"""LectureResults -> the numbers that sentences name: `{tvm.dram_kib}`, `{compulsory_kib}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import loads
from math import ceil

from graphturbo_core.lecture.results import LectureResult, LectureResults
from graphturbo_core.lecture.runs import COARSE, GB, GB_FOR_WEIGHTS, LB, RUNS

KIB = 1024
DECIMAL_BELOW = 10
"""KiB from here on are whole numbers."""
ROUND_CYCLES = 1000
"""An estimate to choose is a multiple of this."""
CAUSES = (
    "input", "output", "weight_first", "weight_again", "activation", "halo", "spill",
)  # fmt: skip
IN_ORDER = "cores_0123"


def whole(number: float) -> str:
    """A whole number with commas."""
    return f"{number:,.0f}"


def kib(size_bytes: float) -> str:
    """KiB, to whole ones from 10 on."""
    size = size_bytes / KIB
    return f"{size:.0f}" if size >= DECIMAL_BELOW or size == int(size) else f"{size:.1f}"


def times(ratio: float) -> str:
    """A ratio with two decimals."""
    return f"{ratio:.2f}"


def percent(share: float) -> str:
    """A whole percentage."""
    return f"{100 * share:.0f}"


@dataclass(frozen=True)
class RunFacts:
    """The numbers of one run as text: `cycles`, `dram_kib`, `halo_bytes` and so on."""

    results: LectureResults
    run: LectureResult

    def __getattr__(self, name: str) -> str:
        """Text of a number.

        Raises:
            AttributeError: there is no such number.
        """
        known = dict(self._known())
        if name not in known:
            raise AttributeError(name)
        return known[name]

    def _known(self) -> Iterator[tuple[str, str]]:
        run, results = self.run, self.results
        yield "cycles", whole(run.cycles)
        yield "gap", times(run.cycles / run.lower_bound_cycles) if run.cycles else ""
        yield "matrix_percent", percent(run.busy.get("matrix", 0))
        yield "halo_macs", whole(run.halo_macs)
        yield "halo_mac_percent", percent(run.halo_macs / results.macs)
        yield "half_dram_kib", kib(run.dram_bytes / 2)
        sizes = {cause: run.dram.get(cause, 0) for cause in CAUSES}
        sizes |= {"dram": run.dram_bytes, "c2c": run.core_to_core_bytes}
        sizes["redundant"] = run.dram_bytes - results.compulsory_dram_bytes
        sizes["parked"] = max((kernel.parked_peak_bytes for kernel in run.kernels), default=0)
        sizes["image"] = read_bytes(run, "image")
        if run.groups:
            sizes["piece"] = run.groups[0].piece_peak_bytes
            yield "first_pieces", whole(run.groups[0].pieces)
            yield "counts", ", ".join(str(group.pieces) for group in run.groups)
        for name, size in sizes.items():
            yield f"{name}_kib", kib(size)
            yield f"{name}_bytes", whole(size)


class Facts(Mapping[str, "str | RunFacts"]):
    """Every number by name: runs with their attributes, and numbers of the whole lecture."""

    def __init__(self, results: LectureResults) -> None:
        """The numbers of these results."""
        self._results = results
        self._plain = dict(_plain(results))

    def __getitem__(self, name: str) -> str | RunFacts:
        """A run's numbers, or one number as text."""
        if name in self._results.runs:
            return RunFacts(self._results, self._results.runs[name])
        return self._plain[name]

    def __iter__(self) -> Iterator[str]:
        """All names."""
        yield from self._results.runs
        yield from self._plain

    def __len__(self) -> int:
        """How many names there are."""
        return len(self._results.runs) + len(self._plain)


def read_bytes(run: LectureResult, tensor: str) -> int:
    """Bytes of a tensor that kernels read from DRAM."""
    rows = (row for kernel in run.kernels for row in kernel.traffic)
    return sum(row.bytes for row in rows if row.tensor == tensor and row.way == "read")


def fetches(run: LectureResult, tensor: str) -> int:
    """How many kernels read a tensor from DRAM."""
    return sum(any(row.tensor == tensor for row in kernel.traffic) for kernel in run.kernels)


def moved_bytes(run: LectureResult, tensor: str) -> int:
    """Bytes of a tensor that cores fetch from each other."""
    moves = (move for kernel in run.kernels for move in kernel.moves)
    return sum(move.bytes for move in moves if move.tensor == tensor)


def busy_cycles(run: LectureResult, engine: str, layer: str) -> int:
    """Cycles that an engine works for a layer in the last kernel."""
    return sum(i.cycles for i in run.last_kernel if (i.engine, i.layer) == (engine, layer))


def last_kernel_cycles(run: LectureResult) -> int:
    """Cycles of the last kernel, from its first start to its last end."""
    return run.kernels[-1].end - run.kernels[-1].start


def _plain(results: LectureResults) -> Iterator[tuple[str, str]]:
    runs = results.runs
    coarse, lbs = runs[COARSE], results.cores * results.lb_data_bytes
    yield "images", whole(results.images)
    yield "cores", whole(results.cores)
    yield "launch", whole(results.launch_cycles)
    yield "bound", whole(coarse.lower_bound_cycles)
    yield "lb_kib", kib(results.lb_data_bytes)
    yield "lb_bytes", whole(results.lb_data_bytes)
    yield "lbs_kib", kib(lbs)
    yield "gb_kib", kib(results.gb_bytes)
    yield "core_part_bytes", whole(results.core_part_bytes)
    yield "compulsory_kib", kib(results.compulsory_dram_bytes)
    yield "weights_kib", kib(results.weight_bytes)
    for tensor in results.tensors:
        yield f"{tensor.name.replace('/', '_')}_kib", kib(tensor.bytes)
        yield f"{tensor.name.replace('/', '_')}_bytes", whole(tensor.bytes)
    yield "fused_kib", kib(runs["layerwise"].dram_bytes - runs["tvm"].dram_bytes)
    for candidate in results.candidates:
        yield f"piece_{candidate.pieces}_kib", kib(candidate.peak_bytes)
    yield "exact_pieces", whole(ceil(results.candidates[0].peak_bytes / lbs))
    yield "g1_fetches", whole(fetches(coarse, "conv1/weight"))
    for name in ("relu1", "relu2", "relu3"):
        yield f"{name}_moved_kib", kib(moved_bytes(coarse, name))
    yield from _groups(results)
    yield from _places(results)
    yield from _order(results)
    yield from _overlap(results)
    yield from _limits(results)


def _groups(results: LectureResults) -> Iterator[tuple[str, str]]:
    """Groups, kernels and images of the coarse run."""
    run = results.runs[COARSE]
    yield "divisors", ", ".join(str(candidate.pieces) for candidate in results.candidates)
    yield "groups_line", " | ".join(" ".join(group.layers) for group in run.groups)
    yield "order_line", " ".join(kernel.name for kernel in run.kernels)
    for group in run.groups:
        yield f"{group.name}_kib", kib(group.whole_peak_bytes)
        yield f"{group.name}_pieces", whole(group.pieces)
    parked = {each.tensor: each.bytes for kernel in run.kernels for each in kernel.parked}
    yield "g2_piece_out_kib", kib(parked["relu3"])


def _places(results: LectureResults) -> Iterator[tuple[str, str]]:
    """Step 5: the second kernel's images in LBs, and the cores that compute them in the third."""
    run = results.runs[COARSE]
    writer, reader = run.kernels[1], run.kernels[2]
    images = range(writer.first, writer.last + 1)
    cores = {
        image: [str(each.core) for each in writer.in_cores if each.first == image]
        for image in images
    }
    yield "near_images", f"{writer.first} and {writer.last}"
    yield "reader_images", f"{reader.first} to {reader.last}"
    yield (
        "near_cores",
        ", ".join(f"image {image} on the cores {' and '.join(cores[image])}" for image in images),
    )
    yield (
        "near_answer",
        "; ".join(f"image {image}: core {' or '.join(cores[image])}" for image in images),
    )
    taken = loads(next(row.cores for row in results.bindings if row.kernel == reader.name))
    in_line = dict(sorted(zip(taken, range(reader.first, reader.last + 1), strict=True)))
    yield "taken_line", ", ".join(f"core {core} image {image}" for core, image in in_line.items())
    moved = writer.last
    yield "moved_image", str(moved)
    yield "moved_cores", " and ".join(cores[moved])
    yield "moved_target", str(taken[moved - reader.first])
    yield "moved_in_order", str(moved - reader.first)


def _order(results: LectureResults) -> Iterator[tuple[str, str]]:
    """Step 4: what waits in GB."""
    depth, breadth = results.runs[COARSE], results.runs["breadth"]
    yield "g1_piece_out_kib", kib(depth.kernels[0].parked_bytes)
    yield "depth_double_kib", kib(2 * max(kernel.parked_bytes for kernel in depth.kernels))
    yield "depth_line", " ".join(kib(kernel.parked_bytes) for kernel in depth.kernels)
    yield "breadth_line", " ".join(kib(kernel.parked_bytes) for kernel in breadth.kernels)
    for name, size in (("smallest", 10), ("small", 16), ("large", 32)):
        yield f"gb_{name}_kib", kib(RUNS[f"depth_gb{size}"].chip[GB])
    yield "gb_weights_kib", kib(GB_FOR_WEIGHTS)


def _overlap(results: LectureResults) -> Iterator[tuple[str, str]]:
    """Step 7: the last group with and without fences, and gains by the bandwidth of DRAM."""
    runs = results.runs
    fenced, free = runs["order"], runs[COARSE]
    yield "g3_fenced", whole(last_kernel_cycles(fenced))
    yield "g3_free", whole(last_kernel_cycles(free))
    yield "g3_free_about", whole(round(last_kernel_cycles(free) / ROUND_CYCLES) * ROUND_CYCLES)
    yield "g3_little_less", whole(last_kernel_cycles(fenced) // ROUND_CYCLES * ROUND_CYCLES)
    yield "g3_third", whole(last_kernel_cycles(fenced) // 3 // 100 * 100)
    yield "conv4_load", whole(busy_cycles(free, "dma 0", "conv4"))
    yield "conv4_compute", whole(busy_cycles(free, "core 0 matrix", "conv4"))
    loads, computes = (
        [busy_cycles(free, engine, layer) for layer in free.kernels[-1].layers]
        for engine in ("dma 0", "core 0 matrix")
    )
    yield "dram_rate", whole(results.tensor("conv4/weight").bytes / loads[0])
    yield "g3_layers", whole(len(loads))
    yield "g3_fenced_ideal", whole(sum(loads) + sum(computes))
    yield "g3_free_ideal", whole(sum(loads) + computes[-1])
    yield "g3_free_rest", whole(last_kernel_cycles(free) - sum(loads) - computes[-1])
    ends = [each.start + each.cycles for each in free.last_kernel if each.engine.endswith("matrix")]
    yield "g3_after", whole(last_kernel_cycles(free) - max(ends))
    yield "gain", times(fenced.cycles / free.cycles)
    for name in runs:
        if name.startswith("full_dram"):
            rate = name.removeprefix("full_dram")
            gain = runs[f"order_dram{rate}"].cycles / runs[name].cycles
            yield f"gain_dram{rate}", times(gain)


def _limits(results: LectureResults) -> Iterator[tuple[str, str]]:
    """Step 8: how much faster B is than A."""
    runs = results.runs
    notes = " ".join(runs["full_slow_lb1024"].notes)
    spilled = re.search(r"(\d+) tensors of kernels did not fit in LB and went to GB", notes)
    yield "spilled", spilled[1] if spilled else whole(0)
    yield "lb_least_kib", kib(RUNS["full_slow_lb1024"].chip[LB])
    yield "lb_double_kib", kib(RUNS["full_lb8192"].chip[LB])
    for name in runs:
        if name.startswith(("full_lb", "full_slow_lb", "full_one", "full_wide")):
            fine = runs[name.replace("full", "tvm", 1)]
            yield f"speedup_{name}", times(fine.cycles / runs[name].cycles)
    yield "speedup", times(runs["tvm"].cycles / runs[COARSE].cycles)


def filled(text: str, facts: Facts) -> str:
    """The sentence with its numbers."""
    return text.format_map(facts)
