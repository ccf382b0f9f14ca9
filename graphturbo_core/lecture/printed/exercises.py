"""The exercises of the worksheet with their answers; numbers are fields, as in the steps."""

from __future__ import annotations

from dataclasses import dataclass

GAP = "______"


@dataclass(frozen=True, slots=True)
class Exercise:
    """A task with gaps, and its answer."""

    task: str
    answer: str


SETTING = (
    "{cores} cores with {lb_kib} KiB of LB data each, GB {gb_kib} KiB, DRAM {dram_rate} bytes per"
    " cycle. KiB for all {images} images: image {image_kib}, relu1 {relu1_kib}, relu2 {relu2_kib},"
    " relu3 {relu3_kib}, relu4 {relu4_kib}, relu5 {relu5_kib}, out {out_kib}; weights"
    " {weights_kib}."
)
EXERCISES = (
    Exercise(
        f"What must cross DRAM under every schedule? {GAP} KiB. With one kernel, a program that the"
        f" chip launches, per layer {{tvm.dram_kib}} KiB cross it. Redundant are {GAP} KiB.",
        "{image_kib} + {weights_kib} + {out_kib} = {compulsory_kib}; {tvm.redundant_kib}.",
    ),
    Exercise(
        f"While conv1 runs, image and relu1 are live, needed at the same time: {GAP} KiB. All"
        f" LBs together have {GAP} KiB. Divisors of {{images}} to try: {GAP}. Pieces: {GAP}.",
        "{piece_1_kib}; {lbs_kib}; {divisors}; {full.first_pieces} of {piece_4_kib} KiB.",
    ),
    Exercise(
        f"The same for conv3 (relu2 and relu3 live): {GAP} KiB, {GAP} pieces. For conv6 with its"
        f" addition (relu5, relu3 and out live): {GAP} KiB, {GAP} pieces.",
        "{g2_kib}, {g2_pieces}; {g3_kib}, {g3_pieces}.",
    ),
    Exercise(
        f"Which neighbours have equal numbers of pieces? Groups: {GAP} | {GAP} | {GAP}.",
        "{groups_line}.",
    ),
    Exercise(
        "Run Algorithm 3 with a stack: push g1/1 to g1/4 (group/piece), take the newest one that"
        " can run. Order:"
        f" {' '.join([GAP] * 7)}.",
        "{order_line}.",
    ),
    Exercise(
        "A piece of g1 leaves {g1_piece_out_kib} KiB, a piece of g2 {g2_piece_out_kib} KiB. What"
        f" the next kernel reads remains in LB. KiB in GB after each kernel: {GAP}. Breadth first:"
        f" {GAP}.",
        "{depth_line} (at most {full.parked_kib}). {breadth_line} (at most {breadth.parked_kib}).",
    ),
    Exercise(
        "Parts of relu2 wait in LB: {near_cores}. conv3 takes one image per core, of the images"
        f" {{reader_images}}. Which cores take the images {{near_images}}, so that least moves?"
        f" {GAP}",
        "{near_answer}. The program has: {taken_line}.",
    ),
    Exercise(
        "The weights of conv4 have {conv4_weight_bytes} bytes, DRAM has {dram_rate} bytes per"
        f" cycle: {GAP} cycles. {{g3_layers}} such layers compute as long. With fences, where a"
        f" layer waits until the one before it has ended, about {GAP} cycles, overlapped about"
        f" {GAP} cycles.",
        "{conv4_load}; {g3_fenced_ideal} (simulated with moves and stores: {g3_fenced});"
        " {g3_free_ideal} (simulated: {g3_free}).",
    ),
    Exercise(
        f"Name a chip on which coarse loses, and why. {GAP}",
        "LBs of {lb_least_kib} KiB and a GB as slow as DRAM: A {tvm_slow_lb1024.cycles}, B"
        " {full_slow_lb1024.cycles} cycles. No cut of the first layers fits, and {spilled} tensors"
        " spill to GB.",
    ),
)
