"""One line for every term: tooltips take their words from here."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "LB": "Local buffer: the memory inside a core that the software fills and empties.",
    "GB": "Global buffer: on-chip memory that the cores of one cluster share.",
    "DRAM": "Memory outside the chip's cores; every byte that crosses to it is booked to a cause.",
    "core": "Matrix, vector and move engines around one LB.",
    "cluster": "Cores that share a GB; the batch is divided over the clusters.",
    "class": "Cores of a cluster with equivalent programs; one is simulated for all.",
    "engine": "What executes instructions, one at a time: matrix, vector, move, system DMA.",
    "kernel": "A set of ops launched as one program; launch and barrier cost time.",
    "layer": "A fine sub-graph: what an ordinary compiler fuses, such as conv + bias + relu. Both "
    "runs have the same layers.",
    "sub-graph": "Ops that run as one kernel or one per piece: layer or group.",
    "group": "A coarse sub-graph: layers merged so that they pass tensors on inside the cores.",
    "piece": "One part of a group that is split along an axis, for example one eighth of a batch.",
    "instance": "One piece of a sub-graph, run as one kernel.",
    "cluster batch": "How many samples one cluster takes at once; the rest follows in rounds.",
    "halo": "Rows that two neighbouring pieces both need; computed or fetched twice.",
    "tile": "The part of an op that one instruction computes.",
    "throughput": "Samples (images, sentences) finished per second.",
    "latency": "Time from the first launch to the last barrier of the whole batch.",
    "utilisation": "Share of the time an engine is busy, idle clusters included.",
    "layers in flight": "Layers that have an instruction running anywhere in the cluster, DMA "
    "included; the share is of the time with two or more.",
    "within one core": "Share of the time in which a core's engines run two or more layers at "
    "once, system DMA left out.",
    "memory under compute": "Share of the time in which bytes of one layer move while another "
    "layer computes.",
    "gap": "Latency over the lower bound that model and chip alone impose; 1x cannot be beaten.",
    "lower bound": "The longest of: matrix work, vector work, both in the best division of "
    "depthwise work, and the bytes that must cross DRAM. It is that of the cluster with most "
    "samples, or of all where clusters may share one sample.",
    "needed MACs": "Multiply-accumulates whose results an output needs; a strided reader leaves "
    "some out. Bounds count these, `macs` counts all of the model's.",
    "critical path": "From the last cycle back to the first: what each instruction waited for, and "
    "the resource that was busy meanwhile; it covers the whole time.",
    "longest dependency chain": "The longest chain of instructions that wait for each other's data "
    "or space; no Trace is shorter.",
    "span": "A stretch of time that somebody marks in the Gantt chart to have it measured.",
    "spill": "A tensor placed in a farther memory because the one planned had no room.",
    "stall": "Time an engine waits: for data, for buffer space, for a channel, at a barrier.",
    "replay": "Every instruction run on real numbers; the result is compared with ONNX Runtime's.",
    "plan file": "A plan as YAML, to keep, to change below its edits, and to run again.",
    "edit": "A decision that a user pins; the strategy follows it or the plan is refused.",
    "capacity": "The size of a memory; the simulator never lets it be exceeded.",
}

CONCEPTS: Mapping[str, tuple[str, ...]] = {
    "chip": ("LB", "GB", "DRAM", "core", "cluster", "class", "engine", "capacity"),
    "sub-graphs": ("kernel", "layer", "sub-graph", "group"),
    "pieces": ("piece", "instance", "halo"),
    "batch": ("cluster batch",),
    "memory": ("spill",),
    "program": ("tile", "stall"),
    "time": (
        "throughput", "latency", "utilisation", "layers in flight", "within one core",
        "memory under compute", "critical path", "longest dependency chain", "span",
    ),
    "bounds": ("gap", "lower bound", "needed MACs"),
    "plans": ("replay", "plan file", "edit"),
}  # fmt: skip
"""Page of the documentation -> the terms that have a section there."""
HELP_PAGE = "/help/concepts/{page}.html#{section}"
"""The address of a section on the app's own server."""
PLACES: Mapping[str, str] = {
    term: HELP_PAGE.format(page=page, section=term.lower().replace(" ", "-"))
    for page, terms in CONCEPTS.items()
    for term in terms
}


def define(term: str) -> str:
    """The definition of `term` as Markdown, begun by the term as a link to its section in Help."""
    return f"[{term}]({PLACES[term]}): {GLOSSARY[term]}"
