"""Names, levels and options: what exists, what is refused, and that each option does something."""

from __future__ import annotations

import pytest

from benchmarks.strategies import PAGE, page
from graphturbo_core.errors import OptionError
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER
from graphturbo_core.strategies.options import resolve_options, strategy_options
from graphturbo_core.strategies.registry import STRATEGIES, StrategySpec, parse_strategy
from tests.strategies.graphturbo.readings import READINGS
from tests.strategies.plans import make_plan
from tests.strategies.samples import hardware, plan_of, sample_plan, sample_semantics


def test_the_page_lists_every_strategy_level_and_option() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")
    for strategy in STRATEGIES.values():
        assert f"## {strategy.name}\n" in page()
        assert all(f"| `{level}` |" in page() for level in strategy.levels)
    assert all(f"| `{name}` |" in page() for name in strategy_options())


def test_what_exists() -> None:
    assert list(STRATEGIES) == [
        "layerwise", "tvm", "astitch", "xla", "glow", "onednn", "tensorrt-like", "taso-like",
        "ios", "graphturbo", "best", "tuned",
    ]  # fmt: skip
    assert tuple(STRATEGIES["graphturbo"].levels) == ("gb", "lb", "order", "full", "plus")
    assert STRATEGIES["graphturbo"].default_level == "full"


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("tvm@2", StrategySpec("tvm", "", 2)),
        ("layerwise", StrategySpec("layerwise")),
        ("graphturbo", StrategySpec("graphturbo", "full")),
        ("graphturbo:order@16", StrategySpec("graphturbo", "order", 16)),
    ],
)
def test_parse(text: str, spec: StrategySpec) -> None:
    assert parse_strategy(text) == spec
    assert parse_strategy(spec.text) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nnc", "'nnc' is not known, choose one of layerwise, tvm, astitch, xla"),
        ("", "'' is not known, choose one of"),
        ("graphturbo:best", "level 'best'.*use graphturbo:gb, graphturbo:lb"),
        ("tvm:full", "level 'full' is not known.*tvm without level"),
        ("graphturbo:", "level '' is not known"),
        ("tvm@0", "cluster batch '0'"),
        ("tvm@", "cluster batch ''"),
        ("tvm@-2", "cluster batch '-2'"),
        ("tvm@2@3", "cluster batch '2@3'"),
        ("tvm@1e3", "cluster batch '1e3'"),
        ("tvm@" + "9" * 5000, "not a positive integer"),
    ],
)
def test_refused_names(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse_strategy(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graphturbo.speed": "9"}, "option 'graphturbo.speed' is not known.*graphturbo.peak"),
        ({"graphturbo.peak": "high"}, "'high' is not a value.*choose one of true, literal"),
        ({"lowering.tiles": "0"}, "'0' is not a value.*choose one of 1 to 64 .default 4"),
        ({"lowering.tiles": "9" * 5000}, "is not a value of option lowering.tiles"),
        ({"lowering.tiles": "²"}, "is not a value of option lowering.tiles"),
        (
            {"taso-like.graph": "3.x"},
            "'3.x' is not a value.*of search, unchanged, steps as 3.0",
        ),
        ({"taso-like.graph": ""}, "'' is not a value of option taso-like.graph"),
        ({"taso-like.graph": "3."}, "'3.' is not a value of option taso-like.graph"),
        ({"taso-like.graph": "9" * 10}, "is not a value of option taso-like.graph"),
        ({"taso-like.graph": "0." * 256 + "0"}, "is not a value of option taso-like.graph"),
        ({"best.goal": "3.0"}, "'3.0' is not a value of option best.goal"),
    ],
)
def test_refused_options(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        resolve_options(options)


def test_unknown_strategy_is_refused_by_make_plan_too() -> None:
    with pytest.raises(OptionError, match="'nnc' is not known"):
        make_plan(
            StrategySpec("nnc"), sample_semantics("teaching-resnet", 4), hardware(), "fp16", {}
        )


@pytest.mark.parametrize("steps", ["search", "unchanged", "0", "3.0.17", "0." * 255 + "0"])
def test_steps_of_a_graph_are_a_value(steps: str) -> None:
    assert resolve_options({"taso-like.graph": steps})["taso-like.graph"] == steps


def test_defaults_are_filled_in() -> None:
    chosen = resolve_options({"graphturbo.peak": "literal"})
    assert chosen["graphturbo.peak"] == "literal"
    assert chosen["graphturbo.best"] == "lexicographic"
    assert all(option.default in option.values for option in strategy_options().values())


def outline(plan: Plan) -> list[tuple[object, ...]]:
    """What an option may change: groups, pieces, axes, bindings of their kernels; how they run."""
    return [
        (kernel.name, kernel.ops, plan.groups[kernel.group].split_axis, dict(kernel.bindings))
        for kernel in plan.kernels
    ] + [(plan.feeding, plan.scheduling)]


AS_IN_FULL = {("graphturbo.fence", "off"), ("graphturbo.list_scheduling", "on")}
"""What level `full` has by itself."""


@pytest.mark.parametrize(
    ("option", "value", "batch", "profile"),
    [
        ("tvm.division", "outermost", 2, "generic-4x4"),
        ("tvm.division", "literal", 2, "generic-4x4"),
        ("tvm.weights", "own", 4, "generic-4x4"),
        ("tvm.double_buffering", "off", 4, "generic-4x4"),
        ("tvm.passes", "squares", 4, "generic-4x4"),
        ("graphturbo.peak", "literal", 3, "generic-4x4"),
        ("graphturbo.candidates", "literal", 6, "stcp920"),
        ("graphturbo.best", "fewest-pieces", 16, "stcp920"),
        ("graphturbo.blocks", "none", 16, "stcp920"),
        ("graphturbo.fit", "cluster", 3, "stcp920"),
        ("graphturbo.binding", "literal", 16, "stcp920"),
        ("graphturbo.instance_order", "breadth-first", 16, "stcp920"),
        ("graphturbo.double_buffering", "off", 4, "generic-4x4"),
        ("graphturbo.fence", "on", 4, "generic-4x4"),
        ("graphturbo.fence", "off", 4, "generic-4x4"),
        ("graphturbo.list_scheduling", "on", 4, "generic-4x4"),
        ("graphturbo.list_scheduling", "off", 4, "generic-4x4"),
    ],
)
def test_every_option_changes_the_plan(option: str, value: str, batch: int, profile: str) -> None:
    sem, chip = sample_semantics("resnet50-slim", batch), hardware(profile)
    strategy = option.partition(".")[0]
    level = ":order" if (option, value) in AS_IN_FULL else ""
    plain = plan_of(sem, strategy + level, chip)
    changed = plan_of(sem, strategy + level, chip, {option: value})
    assert outline(plain) != outline(changed)
    other = "graphturbo" if strategy == "tvm" else "tvm"
    assert plan_of(sem, other, chip, {option: value}) == plan_of(sem, other, chip)


def test_every_option_is_tried_above() -> None:
    marks = test_every_option_changes_the_plan.pytestmark  # type: ignore[attr-defined]
    tried = {(case[0], case[1]) for case in marks[0].args[1]}
    others = {(o.name, v) for o in strategy_options().values() for v in o.values[1:]}
    elsewhere = {
        ("plus.cooperation", "off"), ("plus.lending", "off"),  # tests/strategies/plus/test_plus.py
        ("plus.pieces", "off"), ("plus.merging", "off"), ("plus.mixing", "off"),  # there too
        ("plus.keeping", "off"),  # tests/strategies/plus/test_gb_retention.py
        ("plus.axes", "off"),  # tests/strategies/plus/test_second_axis.py
        ("best.goal", "dram"),  # tests/strategies/best/test_goal.py
        # tests/strategies/best/test_feedings.py
        ("best.depthwise", "cheaper"), ("best.tile_buffers", "two"), ("best.inputs", "loaded"),
        ("tuned.space", "plus"),  # tests/strategies/tuned/test_tuned_plus.py
        ("tuned.starts", "others"),  # tests/strategies/tuned/test_tuned_starts.py
        # they change the import: tests/frontend/passes/test_decompose.py
        ("tvm.normalisation", "whole"), ("tvm.normalisation", "decomposed"),
        ("astitch.normalisation", "xla"),
        # tests/strategies/partitioners/test_xla.py; numbers have no other values
        ("xla.repeats", "off"), ("xla.several_results", "off"),
        # tests/strategies/partitioners/test_tensorrt_like.py
        ("tensorrt-like.residual", "off"), ("tensorrt-like.pointwise", "off"),
        ("tensorrt-like.horizontal", "off"), ("tensorrt-like.concat", "off"),
        ("taso-like.graph", "unchanged"),  # tests/graph_search/test_chosen_graph.py
        ("merge.graph", "unchanged"), ("both.graph", "unchanged"),  # ios/merges/
    }  # fmt: skip
    replayed = {(case[0], case[1]) for case in READINGS}
    assert tried == others - elsewhere - replayed


def test_levels() -> None:
    plans = {
        level: sample_plan("resnet50-slim", 16, f"graphturbo:{level}")
        for level in STRATEGIES["graphturbo"].levels
        if level != "plus"
    }
    layers = len(plans["gb"].layers)
    assert {level: len(plan.kernels) == layers for level, plan in plans.items()} == {
        "gb": True,
        "lb": True,
        "order": False,
        "full": False,
    }
    assert [plan.scheduling for plan in plans.values()] == [BY_LAYER] * 3 + [ACROSS_LAYERS]
    assert [bool(k.kept) for k in plans["gb"].kernels] == [False] * layers
    assert any(k.kept for k in plans["lb"].kernels)
    assert outline(plans["order"])[:-1] == outline(plans["full"])[:-1]
