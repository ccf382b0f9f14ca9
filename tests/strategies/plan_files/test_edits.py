"""Edits of a plan: each is followed, or refused by name.

teaching-resnet, 16 samples on generic-4x4, is planned as g1 (stem), g2 (stage 1 and the first block
of stage 2, in 2 pieces of 8 samples) and g3 (the rest), as the golden dump beside this file has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Binding, Plan, Residency, Scope
from graphturbo_core.strategies.constraints import RULE_FIXED, RULE_FORBIDDEN, RULE_FORCED
from graphturbo_core.strategies.plan_files.edits import (
    EditedCuts,
    Edits,
    with_groups,
    with_other_names,
)
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.lowering.nets import chip
from tests.strategies.samples import sample_plan, sample_semantics, weighted

MODEL, CHIP, BATCH = "teaching-resnet", "generic-4x4", 16
STEM, CONV1, CONV2 = "stem/conv", "stage1/block1/conv1", "stage1/block1/conv2"
LAST, FC = "stage2/block2/conv2", "head/fc"


def edited(edits: Edits, strategy: str = "graphturbo", profile: str = CHIP) -> Plan:
    """The plan with edits; groups are named as in the plan without."""
    before = sample_plan(MODEL, BATCH, strategy, profile)
    held = PinnedPlan(None, with_groups(edits, recorded(before).ops_of_groups))
    semantics = sample_semantics(MODEL, BATCH)
    plan = plan_for(
        parse_strategy(strategy), PlanTask(semantics, before.hardware, "fp16", {}, held)
    )
    plan.check()
    return plan


def refusal(edits: Edits, strategy: str = "graphturbo", profile: str = CHIP) -> str:
    with pytest.raises(PlanError) as caught:
        edited(edits, strategy, profile)
    return caught.value.line()


def layers_of_groups(plan: Plan) -> list[tuple[int, ...]]:
    return [group.layers for group in plan.groups]


def rules(plan: Plan, rule: str) -> list[tuple[str, ...]]:
    return [decision.subject for decision in plan.decisions if decision.rule == rule]


def test_groups_that_must_be_one_are_and_the_decision_says_why() -> None:
    assert layers_of_groups(edited(Edits()))[0] == (0,)
    plan = edited(Edits(merge=((STEM, CONV1),)))
    assert layers_of_groups(plan)[0][:2] == (0, 1)
    assert rules(plan, RULE_FORCED) == [(STEM, CONV1)]
    assert plan.decisions[0].rule == RULE_FORCED
    assert plan.decisions[0].is_taken


def test_whole_groups_can_be_merged_by_the_names_that_the_plan_had() -> None:
    plan = edited(Edits(merge=(("g1", "g2"), ("g2", "g3"))))
    assert layers_of_groups(plan) == [tuple(range(13))]
    assert plan.groups[0].pieces == 2


@pytest.mark.parametrize(("one", "other"), [(CONV1, CONV2), ("head/pool", "head/flatten")])
def test_layers_that_must_be_apart_are_and_the_refusal_says_why(one: str, other: str) -> None:
    """The first two are a block that is merged before all else, the others follow each other."""
    before = sample_plan(MODEL, BATCH, "graphturbo", CHIP)
    assert any(one in group.ops and other in group.ops for group in before.groups)
    plan = edited(Edits(keep_apart=((one, other),)))
    group_of = {layer: group.name for group in plan.groups for layer in group.layers}
    first, second = (
        next(layer.index for layer in plan.layers if name in layer.ops) for name in (one, other)
    )
    assert group_of[first] != group_of[second]
    assert any(subject[-1] == other for subject in rules(plan, RULE_FORBIDDEN))
    assert all(not d.is_taken for d in plan.decisions if d.rule == RULE_FORBIDDEN)


def test_all_members_of_a_set_are_kept_apart_from_each_other() -> None:
    plan = edited(Edits(keep_apart=(("g2", "g3", "g1"),)))
    assert len(plan.groups) == 3


@pytest.mark.parametrize("pieces", [1, 2, 4, 8, 16])
def test_a_group_has_as_many_pieces_as_the_plan_says(pieces: int) -> None:
    plan = edited(Edits(pieces={"g3": pieces}))
    group = next(g for g in plan.groups if FC in g.ops)
    assert group.pieces == pieces
    names = [kernel.name for kernel in plan.kernels if kernel.name.startswith(f"{group.name}/")]
    assert len(names) == pieces
    assert rules(plan, RULE_FIXED) == [(group.name,)]


@pytest.mark.parametrize(
    ("edits", "layers"),
    [
        (Edits(pieces={"g1": 2}), [(0,), (1, 7), (8, 12)]),
        (Edits(pieces={"g2": 4}), [(0,), (1, 7), (8, 12)]),
        (Edits(pieces={"g3": 2}), [(0,), (1, 7), (8, 12)]),
        (Edits(axis={"g3": 0}), [(0,), (1, 7), (8, 12)]),
        (Edits(pieces={STEM: 2}), [(0, 7), (8, 12)]),
        (Edits(pieces={"g2": 4}, merge=(("g1", "g2"),)), [(0, 7), (8, 12)]),
        (Edits(pieces={"g2": 4}, merge=(("g2", "g3"),)), [(0,), (1, 12)]),
    ],
)
def test_a_count_of_a_group_divides_that_group_alone(
    edits: Edits, layers: list[tuple[int, ...]]
) -> None:
    """Its neighbours of the same count are not merged with it, as they are with one op's group."""
    plan = edited(edits)
    ends = [(group.layers[0], group.layers[-1]) for group in plan.groups]
    assert ends == [(inside[0], inside[-1]) for inside in layers]


def test_a_group_that_must_be_apart_inside_is_still_alone() -> None:
    plan = edited(Edits(pieces={"g2": 4}, keep_apart=((CONV1, "stage2/block1/conv1"),)))
    inside = [g for g in plan.groups if {*g.layers} & {*range(1, 8)}]
    assert len(inside) > 1
    assert all({*g.layers} <= {*range(1, 8)} and g.pieces == 4 for g in inside)


def test_a_group_is_split_along_the_axis_that_the_plan_says() -> None:
    plan = edited(Edits(axis={STEM: 2}))
    assert (plan.groups[0].split_axis, plan.groups[0].layers[0]) == (2, 0)
    assert sample_plan(MODEL, BATCH, "graphturbo", CHIP).groups[0].split_axis == 0


def test_a_tensor_is_bound_as_the_plan_says_on_the_cores_that_it_says() -> None:
    cuts = EditedCuts((0,), (2,), (3, 1))
    plan = edited(Edits(binding={"head/pool:0": cuts}))
    bound = [k.bindings["head/pool:0"] for k in plan.kernels if "head/pool:0" in k.bindings]
    assert set(bound) == {Binding((0,), (2,), (3, 1))}
    plain = sample_plan(MODEL, BATCH, "graphturbo", CHIP)
    assert bound[0] not in [k.bindings.get("head/pool:0") for k in plain.kernels]


def test_without_cores_the_parts_are_spread_over_the_cluster() -> None:
    plan = edited(Edits(binding={"head/pool:0": EditedCuts((0,), (2,))}))
    kernel = next(k for k in plan.kernels if "head/pool:0" in k.bindings)
    assert kernel.bindings["head/pool:0"].cores == (0, 2)  # 4 cores, 2 parts


@pytest.mark.parametrize("scope", [Scope.GB, Scope.DRAM])
def test_an_output_waits_where_the_plan_says(scope: Scope) -> None:
    before = sample_plan(MODEL, BATCH, "graphturbo", CHIP)
    tensor = next(t for kernel in before.kernels for t in kernel.kept)
    plan = edited(Edits(scope={tensor: scope}))
    held = [kernel.scopes[tensor] for kernel in plan.kernels if tensor in kernel.scopes]
    assert set(held) == {scope}
    assert all(tensor not in kernel.kept for kernel in plan.kernels)


JOIN = "stage2/block1/relu2:0"
"""The output of g2: its second piece runs first and waits in GB, the first one stays in LB."""


@pytest.mark.parametrize(
    ("scope", "held"),
    [
        ({2: Scope.DRAM}, {"g2/2": Scope.DRAM, "g2/1": Scope.LB}),
        ({1: Scope.DRAM}, {"g2/2": Scope.GB, "g2/1": Scope.DRAM}),
        ({1: Scope.GB, 2: Scope.DRAM}, {"g2/2": Scope.DRAM, "g2/1": Scope.GB}),
    ],
)
def test_one_piece_of_an_output_waits_where_the_plan_says(
    scope: dict[int, Scope], held: dict[str, Scope]
) -> None:
    plan = edited(Edits(scope={JOIN: scope}))
    assert {k.name: k.scopes[JOIN] for k in plan.kernels if JOIN in k.outputs} == held
    assert plan.fixed_pieces == {(JOIN, piece - 1) for piece in scope}
    assert not plan.fixed
    assert [d.numbers for d in plan.decisions if d.rule == RULE_FIXED] == [
        {f"scope of piece {piece}": scope[piece].value} for piece in scope
    ]
    lower(plan)


def test_one_piece_of_what_stays_inside_a_kernel_waits_where_the_plan_says() -> None:
    inner = "stage1/block1/relu2:0"
    before = sample_plan(MODEL, BATCH, "graphturbo", CHIP)
    assert {k.scopes[inner] for k in before.kernels if inner in k.scopes} == {Scope.LB}
    plan = edited(Edits(scope={inner: {2: Scope.GB}}))
    held = {k.name: k.scopes[inner] for k in plan.kernels if inner in k.scopes}
    assert held == {"g2/2": Scope.GB, "g2/1": Scope.LB}


def test_an_output_of_a_plain_strategy_can_be_kept_in_lb() -> None:
    before = sample_plan(MODEL, BATCH, "tvm", "stcp920")
    assert {s for kernel in before.kernels for s in kernel.scopes.values()} <= {
        Scope.DRAM,
        Scope.LB,
    }
    assert not any(kernel.kept for kernel in before.kernels)
    plan = edited(Edits(scope={"stage1/block1/relu1:0": Scope.LB}), "tvm", "stcp920")
    assert [kernel.kept for kernel in plan.kernels if kernel.kept] == [{"stage1/block1/relu1:0"}]


@pytest.mark.parametrize("residency", [Residency.LB, Residency.GB, Residency.STREAM])
def test_weights_are_held_where_the_plan_says(residency: Residency) -> None:
    plan = edited(Edits(residency={STEM: residency}))
    held = [kernel.residency["stem/conv/weight"] for kernel in plan.kernels if STEM in kernel.ops]
    assert held == [residency]
    assert lower(plan).size > 0


def test_what_places_tensors_is_a_decision_too() -> None:
    plan = edited(Edits(residency={"stem/conv/weight": Residency.STREAM}))
    decision = plan.decisions[-1]
    assert (decision.rule, decision.subject) == (RULE_FIXED, ("stem/conv/weight",))
    assert decision.numbers == {"residency": "stream"}
    assert plan.fixed == {"stem/conv/weight"}


REFUSALS: Mapping[str, tuple[Edits, str]] = {
    "a path outside": (
        Edits(merge=((STEM, CONV2),)),
        f"PLAN_MERGE: {STEM} + {CONV2} cannot be one group: a path leads from one over others",
    ),
    "no common split": (
        Edits(merge=(("g1", "g2"),), axis={STEM: 1}),
        "PLAN_MERGE: stem/conv + stage1/block1/conv1",
    ),
    "merged and apart": (
        Edits(merge=((STEM, CONV1),), keep_apart=((CONV1, STEM),)),
        "PLAN_CONFLICT: stem/conv and stage1/block1/conv1 must be in one group and apart",
    ),
    "apart in one layer": (
        Edits(keep_apart=(("stem/conv", "stem/relu"),)),
        "PLAN_CONFLICT: stem/conv and stem/relu are in one layer",
    ),
    "two counts in one": (
        Edits(merge=((STEM, CONV1),), pieces={STEM: 2, CONV1: 4}),
        "PLAN_CONFLICT: layers that must be one group have edits with 2 and 4",
    ),
    "two counts of a layer": (
        Edits(pieces={"stem/conv": 2, "stem/relu": 4}),
        "PLAN_CONFLICT: a layer of stem/relu has edits with 2 and 4",
    ),
    "does not divide": (
        Edits(pieces={FC: 3}, axis={FC: 0}),
        "PLAN_SPLIT: the group of 'head/fc' cannot be split into 3 pieces along axis 0: "
        "axis 0 has sizes 16, which 3 does not divide",
    ),
    "too many": (
        Edits(pieces={FC: 32}, axis={FC: 0}),
        "PLAN_SPLIT: the group of 'head/fc' cannot be split into 32 pieces along axis 0: "
        "axis 0 has 16 elements",
    ),
    "no such axis": (
        Edits(axis={FC: 5}),
        "PLAN_SPLIT: the group of 'head/fc' cannot be split along axis 5: its result 'scores' has "
        "2 axes",
    ),
    "more than the cores hold": (
        Edits(pieces={"g2": 1}),
        "axis 0 leaves 1,572,864 bytes per piece, the cores hold 786,432",
    ),
    "an unknown op": (
        Edits(merge=(("stem/con", CONV1),)),
        "PLAN_UNKNOWN_NAME: op or group stem/con is not known, edits.merge[0], nearest: stem/conv",
    ),
    "an unknown group": (
        Edits(pieces={"g9": 2}),
        "PLAN_UNKNOWN_NAME: op or group g9 is not known, edits.pieces.g9",
    ),
    "an unknown tensor": (
        Edits(scope={"stem/relu": Scope.GB}),
        "PLAN_UNKNOWN_NAME: tensor stem/relu is not known, edits.scope, nearest: stem/relu:0",
    ),
    "an input is no weight": (
        Edits(residency={"image": Residency.LB}),
        "PLAN_UNKNOWN_NAME: image is an input of the model",
    ),
    "no weights": (
        Edits(residency={"head/pool": Residency.LB}),
        "PLAN_UNKNOWN_NAME: head/pool has no weights",
    ),
    "two places": (
        Edits(residency={STEM: Residency.LB, "stem/conv/weight": Residency.STREAM}),
        "PLAN_CONFLICT: weight stem/conv/weight has edits with LB and stream",
    ),
    "no shards": (
        Edits(residency={STEM: Residency.SHARDED}),
        f"PLAN_RESIDENCY: the weights of {STEM} cannot be sharded: the chip does not shard weights",
    ),
    "not enough cores": (
        Edits(binding={"head/pool:0": EditedCuts((0,), (8,))}),
        "PLAN_BINDING: head/pool:0 is cut into 8 parts, a cluster has 4 cores",
    ),
    "no such core": (
        Edits(binding={"head/pool:0": EditedCuts((0,), (2,), (0, 4))}),
        "PLAN_BINDING: 'head/pool:0' cannot have this binding: there is no core 4, only 0 to 3",
    ),
    "an axis too short": (
        Edits(binding={"head/pool:0": EditedCuts((2,), (2,))}),
        "axis 2 has 1 elements per piece, fewer than 2 parts",
    ),
    "an axis that is not there": (
        Edits(binding={"scores": EditedCuts((2,), (2,))}),
        "PLAN_BINDING: 'scores' cannot have this binding: it has no axis 2, only 2 axes",
    ),
    "a result stays": (
        Edits(scope={"scores": Scope.LB}),
        "PLAN_SCOPE: scores cannot wait in LB: it is an output of the model, which must be in DRAM",
    ),
    "a piece read late": (
        Edits(scope={"stage2/block1/relu2:0": {2: Scope.LB}}),
        "PLAN_SCOPE: 'stage2/block1/relu2:0' of g2/2 cannot wait in LB: g3/1 reads it",
    ),
    "no such piece": (
        Edits(scope={"stage2/block1/relu2:0": {3: Scope.GB}}),
        "PLAN_NO_EFFECT: stage2/block1/relu2:0 has 2 pieces and no piece 3",
    ),
    "a piece inside a tile": (
        Edits(scope={"stem/conv:0": {1: Scope.LB}}),
        "PLAN_NO_EFFECT: stem/conv:0 only passes between ops that share tiles",
    ),
    "a piece of a result stays": (
        Edits(scope={"scores": {1: Scope.LB}}),
        "PLAN_SCOPE: scores cannot wait in LB: it is an output of the model, which must be in DRAM",
    ),
    "inside a tile": (
        Edits(scope={"stem/conv:0": Scope.LB}),
        "PLAN_NO_EFFECT: stem/conv:0 only passes between ops that share tiles",
    ),
    "an unknown op of a name": (
        Edits(names={"mine": ("nothing",)}, pieces={"mine": 2}),
        "PLAN_UNKNOWN_NAME: op nothing is not known, edits.names.mine",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_cannot_be_is_refused_by_name(case: str) -> None:
    edits, said = REFUSALS[case]
    assert said in refusal(edits)


def test_an_output_read_late_cannot_wait_in_lb() -> None:
    """The block's input is read by the shortcut and by the sum, kernels later."""
    line = refusal(Edits(scope={"stage1/block1/relu2:0": Scope.LB}), "tvm", "stcp920")
    assert "PLAN_SCOPE: 'stage1/block1/relu2:0' of g3/1 cannot wait in LB: g5/1 reads it" in line


@pytest.mark.parametrize(
    "strategy", ["tvm", "astitch", "layerwise", "graphturbo:lb", "graphturbo:gb"]
)
@pytest.mark.parametrize(
    ("key", "edits"),
    [
        ("merge", Edits(merge=((STEM, CONV1),))),
        ("keep_apart", Edits(keep_apart=((STEM, CONV1),))),
        ("pieces", Edits(pieces={STEM: 2})),
        ("axis", Edits(axis={STEM: 0})),
    ],
)
def test_strategies_without_groups_refuse_to_merge_and_split(
    strategy: str, key: str, edits: Edits
) -> None:
    line = refusal(edits, strategy)
    assert f"PLAN_STRATEGY: groups and pieces of strategy {strategy} cannot be chosen" in line
    assert f"edits.{key}" in line


def test_weights_that_no_lb_has_room_for_are_refused() -> None:
    """64 x 64 x 3 x 3 weights of two bytes are 73,728; the tiny chip's weight part has 4,096."""
    text = (
        "g (float[1,64,8,8] x, float[64,64,3,3] w) => (float[1,64,8,8] y)"
        "{ y = Conv <pads = [1,1,1,1]> (x, w) }"
    )
    held = PinnedPlan(None, Edits(residency={"w": Residency.LB}))
    task = PlanTask(weighted(text), chip("tiny"), "fp16", {}, held)
    with pytest.raises(PlanError, match="72 KiB are more than the 4 KiB"):
        plan_for(parse_strategy("tvm"), task)


@pytest.mark.parametrize("is_of_piece", [False, True])
@pytest.mark.parametrize(("lb_bytes", "is_held"), [(8192, True), (1152, False)])
def test_what_lowering_cannot_place_as_fixed_is_refused(
    lb_bytes: int, is_held: bool, is_of_piece: bool
) -> None:
    """`a` has 8 x 16 x 16 elements of two bytes, 1,024 bytes on each of four cores: 1,152 bytes
    have room for it alone, but not for the lines of its neighbours and for tiles beside it."""
    shape = "float[1,8,16,16]"
    text = (
        f"g ({shape} x, float[8,8,3,3] w, float[8,8,3,3] v) => ({shape} y)"
        "{ a = Conv <pads = [1,1,1,1]> (x, w) b = Conv <pads = [1,1,1,1]> (a, v) y = Add (b, a) }"
    )
    small = replace(chip("tiny"), lb_data_bytes=lb_bytes)
    held = PinnedPlan(None, Edits(scope={"a": {1: Scope.LB} if is_of_piece else Scope.LB}))
    options = {"graphturbo.fit": "cluster"}  # the core's closed form would raise the pieces
    task = PlanTask(weighted(text), small, "fp16", options, held)
    plan = plan_for(parse_strategy("graphturbo"), task)
    if is_held:
        assert lower(plan).size > 0
        return
    with pytest.raises(CapacityError, match="'a' of kernel 'g1/1' found no room in LB") as caught:
        lower(plan)
    assert caught.value.code == "PLAN_NOT_HELD"
    lower(replace(plan, fixed=frozenset(), fixed_pieces=frozenset()))  # not fixed, it goes to GB


def test_names_that_a_new_plan_takes_are_kept_under_others() -> None:
    edits = with_groups(
        Edits(pieces={"g2": 4, STEM: 2}, merge=(("g1", "g2"),)), {"g1": (STEM,), "g2": (CONV1,)}
    )
    moved = with_other_names(edits, {"g1", "g2"})
    assert moved.names == {"was-g1": (STEM,), "was-g2": (CONV1,)}
    assert moved.pieces == {"was-g2": 4, STEM: 2}
    assert moved.merge == (("was-g1", "was-g2"),)
    assert with_other_names(moved, {"g1", "g2"}) == moved


@pytest.mark.parametrize(
    ("code", "edits"),
    [
        ("PLAN_BINDING", Edits(binding={"stem/conv:0": EditedCuts((0,), (2,))})),
        ("PLAN_SCOPE", Edits(scope={"stage1/block1/relu1:0": Scope.LB})),
        ("PLAN_RESIDENCY", Edits(residency={STEM: Residency.LB})),
    ],
)
def test_what_a_shared_engine_computes_has_no_core_and_no_lb(code: str, edits: Edits) -> None:
    line = refusal(edits, "graphturbo", "goya")
    assert code in line
    assert "an engine that the cores share" in line
