"""The options of `--set`, listed in one place: choices of the strategies and of lowering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding

LOWERING = "lowering"
"""Prefix of the options that every strategy's plans are lowered with."""
TVM, ASTITCH = "tvm", "astitch"
"""Prefixes of the options that say how their kernels run; docs/paper-assumptions.md has the why."""
SEED, EVALUATIONS, SPACE = "tuned.seed", "tuned.evaluations", "tuned.space"
STARTS = "tuned.starts"
FENCE, LISTED = "graphturbo.fence", "graphturbo.list_scheduling"
BY_LEVEL, _SWITCHED = "by-level", ("on", "off")
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class StrategyOption:
    """A `--set` option: one of `values`, the first by default, or a whole number in `bounds`."""

    name: str
    values: tuple[str, ...]
    doc: str
    bounds: tuple[int, int] | None = None

    @property
    def default(self) -> str:
        """The value without `--set`."""
        return self.values[0]

    @property
    def choices(self) -> str:
        """What may be written, in words."""
        if self.bounds is None:
            return ", ".join(self.values)
        low, high = self.bounds
        return f"{low} to {high} (default {self.default})"

    def accepts(self, value: str) -> bool:
        """Whether the value may be written."""
        if self.bounds is None:
            return value in self.values
        is_number = value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS
        return is_number and self.bounds[0] <= int(value) <= self.bounds[1]


def _number(name: str, bounds: tuple[int, int], doc: str) -> StrategyOption:
    """A field of TileRules as an option."""
    return StrategyOption(f"{LOWERING}.{name}", (str(getattr(DEFAULT_RULES, name)),), doc, bounds)


_OPTIONS = (
    StrategyOption(
        "tvm.division",
        ("kind", "outermost", "literal"),
        "how a kernel's result is divided over cores: axes by kind of access, the outermost axis "
        "alone, or from the outermost inwards by gcd",
    ),
    StrategyOption(
        "tvm.weights",
        ("shared", "own"),
        "what several cores need of a weight is fetched once and broadcast, or each core fetches "
        "its own from DRAM",
    ),
    StrategyOption(
        "tvm.double_buffering",
        ("on", "off"),
        "two tiles of each streamed operand take turns, or one: loads and computes alternate",
    ),
    StrategyOption(
        "tvm.passes",
        ("any", "squares"),
        "a pass of the matrix array takes any pixels of a convolution's tile, or a square of one "
        "map, as an intrinsic of fixed shape does",
    ),
    StrategyOption(
        "tvm.normalisation",
        ("relay", "whole", "decomposed"),
        "layer norm becomes mean, variance and the rest, as at Relay's import, and softmax stays "
        "one op (apache/tvm pull requests 13074 and 8909); or both are one op each; or both are "
        "reductions and elementwise ops",
    ),
    StrategyOption(
        "astitch.normalisation",
        ("stitched", "xla"),
        "softmax and layer norm are one op each, whose passes over a row stay on its core, as "
        "AStitch's regional scheme stitches them (ASPLOS 2022); or they are stitched from the "
        "reductions and elementwise ops that XLA, under AStitch, has of them",
    ),
    StrategyOption(
        "graphturbo.peak",
        ("true", "literal"),
        "Algorithm 1: the true peak of the largest piece, or ceil(peak / pieces) as printed",
    ),
    StrategyOption(
        "graphturbo.candidates",
        ("divisors", "literal"),
        "Algorithm 1: piece counts to try, divisors or 1, 2, 4, 8, 9, 10, ... as printed",
    ),
    StrategyOption(
        "graphturbo.best",
        ("lexicographic", "fewest-pieces"),
        "Eq. 1: most ops covered, outermost axis, fewest pieces; or fewest pieces first",
    ),
    StrategyOption(
        "graphturbo.blocks",
        ("first", "none"),
        "Algorithm 2: merge each innermost block before all else, or not",
    ),
    StrategyOption(
        "graphturbo.fit",
        ("core", "cluster"),
        "raise pieces until each core holds its part, or trust the cluster's sum as printed",
    ),
    StrategyOption(
        "graphturbo.binding",
        ("kind", "literal"),
        "Algorithm 4: cut axes by kind of access and take a handed-down binding that is as good, "
        "or cut from the outermost axis by gcd and take it only if it uses more cores",
    ),
    StrategyOption(
        "graphturbo.merging",
        ("weights", "equal", "largest", "any"),
        "Algorithm 2, rule 2: no part with weights is cut into more pieces; or only equal counts "
        "merge, or no count rises above the largest, or whatever has a split merges",
    ),
    StrategyOption(
        "graphturbo.coverage",
        ("all", "outputs"),
        "Algorithm 1: a split axis carries through every tensor inside, or to the outputs alone; "
        "pieces then compute the rest whole, and Eq. 1 takes the axis that covers most ops",
    ),
    StrategyOption(
        "graphturbo.binding_of",
        ("nests", "instances"),
        "Algorithm 4: each kernel binds its own loop nests, or bindings are handed from instance "
        "to instance too, as in the vendor's manual",
    ),
    StrategyOption(
        "graphturbo.gb_binding",
        ("handed", "plain"),
        "Algorithm 4: a loop nest whose result goes to GB, as its readers want it differently, "
        "takes the first reader's binding, or a plain one as printed",
    ),
    StrategyOption(
        "graphturbo.conflicts",
        ("gb", "lb"),
        "Algorithm 4: what two loop nests of a kernel want differently waits in GB, or stays in "
        "LB and cores exchange it, as the vendor's core operations do",
    ),
    StrategyOption(
        "graphturbo.gb_room",
        ("reserved", "whole"),
        "outputs and weights that wait in GB leave a weight part of it free for tiles of streamed "
        "weights, or may fill it, as the paper keeps nothing back",
    ),
    StrategyOption(
        "graphturbo.instance_order",
        ("depth-first", "breadth-first"),
        "Algorithm 3: of the instances that are ready run the newest, or the oldest, which is the "
        "order that the paper sets beside its own (figure 7)",
    ),
    StrategyOption(
        "graphturbo.double_buffering",
        ("on", "off"),
        "two tiles of each streamed operand take turns, or one: loads and computes alternate (our "
        "choice: the paper counts it to no step, its kernels are generated with it)",
    ),
    StrategyOption(
        FENCE,
        (BY_LEVEL, *_SWITCHED),
        "a layer starts when all of the one before it has ended, DMA included; by level: on in gb, "
        "lb and order, off in full and plus (our choice: of instruction scheduling, which the "
        "paper counts as one step, the part that lets layers overlap)",
    ),
    StrategyOption(
        LISTED,
        (BY_LEVEL, *_SWITCHED),
        "a list scheduler orders instructions, between fences where there are any, or they keep "
        "their layers' order; by level: on in full and plus (our choice: the other part)",
    ),
    StrategyOption(
        "plus.pieces",
        ("on", "off"),
        "graphturbo:plus: groups in fewer pieces where weights that each piece fetches again cost "
        "more than what then overflows a core",
    ),
    StrategyOption(
        "plus.merging",
        ("on", "off"),
        "graphturbo:plus: the groupings of fewest pieces and of half the room are tried too",
    ),
    StrategyOption(
        "plus.axes",
        ("on", "off"),
        "graphturbo:plus: groups whose pieces are cut along two axes, neighbours merged with them",
    ),
    StrategyOption(
        "plus.mixing",
        ("on", "off"),
        "graphturbo:plus: stretches of layers, each grouped as in the plan that was fastest there",
    ),
    StrategyOption(
        "plus.keeping",
        ("on", "off"),
        "graphturbo:plus: weights stay in GB from kernel to kernel, and come there before the "
        "kernel that reads them, where that saves DRAM's time",
    ),
    StrategyOption(
        "plus.cooperation",
        ("on", "off"),
        "graphturbo:plus where clusters would be idle: they share the round if that costs less",
    ),
    StrategyOption(
        "plus.lending",
        ("on", "off"),
        "graphturbo:plus where clusters are idle: weights come through their DRAM shares too, one "
        "share a DMA engine at a time",
    ),
    StrategyOption(
        SEED, ("0",), "the search's random choices: another one, another walk", (0, 10**6)
    ),
    StrategyOption(
        EVALUATIONS, ("64",), "plans that the search lowers and simulates", (1, 100_000)
    ),
    StrategyOption(
        SPACE,
        ("graphturbo", "plus"),
        "among whose choices the search looks: those of graphturbo, or also those of "
        "graphturbo:plus, whose own plan it begins with",
    ),
    StrategyOption(
        STARTS,
        ("all", "others"),
        "what the search begins with: all named schedules, graphturbo:full's first, or only those "
        "that group or split otherwise than graphturbo:full",
    ),
    _number("tile_share", (1, 1024), "a streamed tile takes at most this part of an LB"),
    _number("tiles", (1, 64), "tiles into which a core's share is cut for overlap, at most"),
    _number("padding_percent", (0, 1000), "passes of the matrix array that such cuts may add"),
    _number("vector_tile_elements", (1, 10**6), "a vector stage is cut for overlap down to this"),
    _number("load_chunk_bytes", (32, 10**7), "a load is cut for overlap down to this"),
    _number("small_weight_share", (3, 1024), "a weight of this part of an LB's comes whole"),
    _number("narrow_percent", (1, 1000), "part of the array's width below which K is cut"),
    _number("pool_share", (2, 1024), "part of a pooled LB that holds weights"),
)


def strategy_options() -> Mapping[str, StrategyOption]:
    """All `--set` options by name: of strategies, then of lowering."""
    return MappingProxyType({option.name: option for option in _OPTIONS})


def resolve_options(options: Mapping[str, str]) -> dict[str, str]:
    """All options with their defaults filled in.

    Raises:
        OptionError: an unknown option or value, naming those that exist.
    """
    known = strategy_options()
    for name, value in sorted(options.items()):
        if name not in known:
            raise OptionError(
                "UNKNOWN_OPTION",
                f"option {name!r} is not known",
                change=f"choose one of {', '.join(known)}",
            )
        if not known[name].accepts(value):
            raise OptionError(
                "UNKNOWN_OPTION_VALUE",
                f"{value!r} is no value of option {name}",
                change=f"choose one of {known[name].choices}",
            )
    return {name: options.get(name, option.default) for name, option in known.items()}


def feeding(strategy: str, chosen: Mapping[str, str]) -> Feeding:
    """How engines get their operands, by the resolved options of a strategy that has any."""
    is_tvm, is_double = strategy == TVM, chosen.get(f"{strategy}.double_buffering", "on") == "on"
    return Feeding(
        has_own_fetches=is_tvm and chosen["tvm.weights"] == "own",
        tiles=DEFAULT_FEEDING.tiles if is_double else 1,
        has_square_passes=is_tvm and chosen["tvm.passes"] == "squares",
    )


def scheduling(own: Scheduling, chosen: Mapping[str, str]) -> Scheduling:
    """A level's own scheduling, where the resolved options do not say otherwise."""
    fence, listed = chosen[FENCE], chosen[LISTED]
    return Scheduling(
        own.has_fence if fence == BY_LEVEL else fence == "on",
        own.is_listed if listed == BY_LEVEL else listed == "on",
    )


def tile_rules(chosen: Mapping[str, str]) -> TileRules:
    """The numbers of lowering that resolved options give."""
    return TileRules(
        **{each.name: int(chosen[f"{LOWERING}.{each.name}"]) for each in fields(TileRules)}
    )
