"""The colours of every page: hues for sub-graphs and layers, greyed ones for all else.

A saturated colour always stands for a sub-graph, stage or kind of sub-graph (`HUE_COLOURS`).
Engines and resources take from `MUTED`: ten colours with an OKLab chroma of at most 0.075, found by
a search for the largest least distance between two, under normal vision, protanopia, deuteranopia
and tritanopia (Machado et al. 2009). It is 0.089; our choice. Causes of bytes take the six of them
that no engine has, and `PLUM`, so that an engine and a cause never have one colour.
Waits take from `MUTED_WAITS`, six colours that nothing else on their page has, most of them greens
and purples, as `MUTED` has neither. The least distance between two is 0.096 in the same four
visions. In normal vision each is at least 0.066 from every other colour on a light ground.
On a dark ground each of these has a colour of its own (`LIT`), lighter and of nearly the same tint:
mixed with white they would be as little as 0.033 apart. They were found by the same kind of search,
with a contrast of 4.5:1, a chroma of at most 0.09 and a tint at most 30 degrees away. The least
distance between any two is 0.083 in normal vision, and 0.082 in all four between two of a set.
"""

from __future__ import annotations

from collections.abc import Mapping

HUE_COLOURS: Mapping[str, tuple[str, ...]] = {
    "light": ("#a42383", "#1a5ed9", "#2daf9a", "#f0b310", "#ce4a12", "#616b79"),
    "dark": ("#c964b4", "#2c97f7", "#4fd7c4", "#f0b31b", "#e85c1c", "#8e99a8"),
}
"""By theme: a colour per hue of `report.overview.hues`, the last for everything else."""
NAVY, OCHRE, PETROL, KHAKI = "#334c73", "#795e2e", "#3c6c78", "#a99663"
LAVENDER, UMBER, STEEL, SAND = "#a6b1e0", "#8c7b55", "#7e9bb1", "#cdac99"
SLATE, COFFEE, PLUM = "#6a7ba9", "#56493c", "#7e5472"
MUTED = (NAVY, OCHRE, PETROL, KHAKI, LAVENDER, UMBER, STEEL, SAND, SLATE, COFFEE)
FOREST, AQUA, MAUVE, WINE = "#4c6e45", "#70b8c5", "#886690", "#6b3b53"
ROSE, OLIVE = "#b57b71", "#adaf79"
MUTED_WAITS = (FOREST, AQUA, MAUVE, WINE, ROSE, OLIVE)
GREY = "#8c8c8c"
FIR = "#255b4f"
IMAGE_COLOURS = (
    FIR, "#8dbf9b", "#566742", "#668c83", "#4d5522", "#85aa7f", "#597a6b", "#86905c",
)  # fmt: skip
"""Of image 1 to 8 in every step of the lecture: greens, as `MUTED` has none.

Found by a search for the largest least distance between two (0.059 in OKLab, in all four visions)
at no less than 0.055 from every cause of bytes in normal vision; each has its digit as well.
"""

ENGINE_COLOURS: Mapping[str, str] = {
    "matrix": NAVY,
    "vector": OCHRE,
    "move": PETROL,
    "dma": STEEL,
}
KIND_COLOURS: Mapping[str, str] = {
    "matrix compute": NAVY,
    "vector compute": OCHRE,
    "load": PETROL,
    "store": KHAKI,
    "core to core": LAVENDER,
    "broadcast": UMBER,
    "DMA": STEEL,
    "copy": SAND,
}
"""Instruction kinds by their number; a compute takes the colour of the engine kind that does it."""
KIND_NAMES: tuple[str, ...] = ("compute", *[name for name in KIND_COLOURS if "compute" not in name])
"""A name an instruction kind."""
WAIT_COLOURS: Mapping[str, str] = {
    "busy": FOREST,
    "data": AQUA,
    "address": MAUVE,
    "channel": WINE,
    "barrier": ROSE,
    "idle": OLIVE,
}
"""What an engine's cycle goes to; an instruction takes the colour of what it waited for."""
CAUSE_COLOURS: Mapping[str, str] = {
    "input": LAVENDER,
    "output": UMBER,
    "weight_first": SLATE,
    "weight_again": PLUM,
    "activation": KHAKI,
    "halo": SAND,
    "spill": COFFEE,
}
"""Why bytes cross DRAM or GB, in the words of the contract's `dram_ledger`."""
TENSOR_COLOURS: Mapping[str, str] = {
    "activation": CAUSE_COLOURS["activation"],
    "weight": CAUSE_COLOURS["weight_first"],
    "input": CAUSE_COLOURS["input"],
    "output": CAUSE_COLOURS["output"],
}
"""What a buffer holds: the colour of the cause that moves it."""
RUN_COLOURS: Mapping[str, str] = {"A": GREY, "B": NAVY}
"""Of dots, each a layer of a run."""
CAPACITY_COLOUR = "#d55e00"
HIT_COLOUR = "#e0218a"
"""Ops that a search found; none of the hues, and a ring or tick besides."""
OVERLAP_COLOUR = SLATE
"""Layers in flight beyond one, and stretches in which one core runs two or more."""
RESOURCE_COLOURS: Mapping[str, str] = {
    "matrix": NAVY,
    "vector": OCHRE,
    "move": PETROL,
    "dram": STEEL,
    "gb": UMBER,
    "lb": KHAKI,
    "link": LAVENDER,
    "latency": SLATE,
    "launch": COFFEE,
    "barrier": WAIT_COLOURS["barrier"],
}
"""What a stretch of the critical path occupies, by the keys of the contract's `critical_path`."""
WAITED_FOR = "data_"
"""Beginning of the steps in which an engine waits for data."""
STEP_COLOURS: Mapping[str, str] = {
    "bound": GREY,
    "other_clusters": SLATE,
    "repeated": FIR,
    "unfilled": WAIT_COLOURS["busy"],
    **{
        f"{WAITED_FOR}{of}": RESOURCE_COLOURS[of] for of in ("matrix", "vector", "dram", "gb", "lb")
    },
    **{wait: WAIT_COLOURS[wait] for wait in ("address", "channel", "barrier", "idle")},
    "other_bytes": CAUSE_COLOURS["input"],
    "dram_idle": STEEL,
}
"""What separates a run from its lower bound; other steps are causes of bytes."""
UNDER_COLOUR = SAND
"""Ground of the time in which memory works for one layer while another computes."""
MEMORY_COLOUR = GREY
"""Bytes that a memory holds over time."""


LIT: Mapping[str, str] = {
    NAVY: "#8689c4", OCHRE: "#c2bd79", PETROL: "#2b8e8c", KHAKI: "#fbe3b3",
    LAVENDER: "#d1e8fe", UMBER: "#aa9e61", STEEL: "#a8c8fa", SAND: "#f8bdb9",
    SLATE: "#a1a5e2", COFFEE: "#a97748", PLUM: "#887e85", FIR: "#7db19d",
    FOREST: "#7a8d5c", AQUA: "#6ebcdb", MAUVE: "#fbc8fb", WINE: "#b57b9f",
    ROSE: "#dd95a6", OLIVE: "#b9e3ab", GREY: "#bababa",
    **dict(zip(HUE_COLOURS["light"], HUE_COLOURS["dark"], strict=True)),
}  # fmt: skip
"""Colours of charts on a dark ground, by those on a light one."""


def lighter(colour: str) -> str:
    """The colour as CSS has it; on a dark ground the one of that ground."""
    return f"light-dark({colour},{LIT[colour]})"
