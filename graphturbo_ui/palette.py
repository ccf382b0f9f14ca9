"""One colour per engine kind, wait and cause, and a palette for layers and groups, on every page.

The hues are Okabe and Ito's (Color Universal Design, 2008), told apart by people with any common
form of colour blindness; yellow and black are left out because one vanishes on white and the other
on dark. Groups are told apart by number and outline as well.
"""

from __future__ import annotations

from collections.abc import Mapping

BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, OLIVE, GREY = "#cc79a7", "#56b4e9", "#8a8d00", "#8c8c8c"
INDIGO, BROWN = "#5a55c8", "#8c564b"

ENGINE_COLOURS: Mapping[str, str] = {
    "matrix": BLUE,
    "vector": ORANGE,
    "move": GREEN,
    "dma": VERMILION,
}
KIND_COLOURS: Mapping[str, str] = {
    "matrix compute": BLUE,
    "vector compute": ORANGE,
    "load": GREEN,
    "store": PURPLE,
    "core to core": SKY,
    "broadcast": OLIVE,
    "DMA": VERMILION,
    "copy": BROWN,
}
"""Instruction kinds by their number; a compute takes the colour of the engine kind that does it."""
KIND_NAMES: tuple[str, ...] = ("compute", *[name for name in KIND_COLOURS if "compute" not in name])
"""A name an instruction kind."""
GROUP_COLOURS: tuple[str, ...] = (
    BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    SKY,
    VERMILION,
    OLIVE,
    INDIGO,
    BROWN,
    GREY,
)
WAIT_COLOURS: Mapping[str, str] = {
    "busy": GREEN,
    "data": BLUE,
    "address": ORANGE,
    "channel": PURPLE,
    "barrier": BROWN,
    "idle": GREY,
}
"""What an engine's cycle goes to; an instruction takes the colour of what it waited for."""
CAUSE_COLOURS: Mapping[str, str] = {
    "input": SKY,
    "output": BLUE,
    "weight_first": GREEN,
    "weight_again": VERMILION,
    "activation": ORANGE,
    "halo": PURPLE,
    "spill": BROWN,
}
"""Why bytes cross DRAM or GB, in the words of the contract's `dram_ledger`."""
TENSOR_COLOURS: Mapping[str, str] = {
    "activation": CAUSE_COLOURS["activation"],
    "weight": CAUSE_COLOURS["weight_first"],
    "input": CAUSE_COLOURS["input"],
    "output": CAUSE_COLOURS["output"],
}
"""What a buffer holds: the colour of the cause that moves it."""
RUN_COLOURS: Mapping[str, str] = {"A": GREY, "B": INDIGO}
CAPACITY_COLOUR = VERMILION
HIT_COLOUR = "#e0218a"
"""Ops that a search found; none of the groups' hues, and a ring or tick besides."""
OVERLAP_COLOUR = "#7a4fbf"
"""Layers in flight beyond one, and stretches in which one core runs two or more."""
RESOURCE_COLOURS: Mapping[str, str] = {
    "matrix": BLUE,
    "vector": ORANGE,
    "move": GREEN,
    "dram": VERMILION,
    "gb": OLIVE,
    "lb": PURPLE,
    "link": SKY,
    "latency": INDIGO,
    "launch": BROWN,
    "barrier": GREY,
}
"""What a stretch of the critical path occupies, by the keys of the contract's `critical_path`."""
UNDER_COLOUR = SKY
"""Ground of the time in which memory works for one layer while another computes."""
MEMORY_COLOUR = GREY
"""Bytes that a memory holds over time."""
