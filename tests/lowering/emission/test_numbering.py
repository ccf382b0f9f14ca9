"""Kernels that several lowerings have in common change no program, and are emitted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering import known as known_kernels
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import numbering
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.emission.emit import Common, Room
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.known import KnownKernels, KnownTemplate
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.numbering import number_all
from graphturbo_core.lowering.tiling.cutting import COARSEST, LAST_GRAINS, grains
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from tests.full import examples, paired
from tests.lowering.chips import VARIED_CHIPS, random_chips
from tests.lowering.equality import arrays_of, check_same, outcome
from tests.lowering.nets import STRATEGIES, chip, conv_nets, plan_of, small_model
from tests.strategies.samples import weighted

EXAMPLES = 24
NET = "resnet"


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first op of every kernel that is emitted, in order."""
    ops: list[str] = []
    emit = numbering.emit_kernel

    def noted(common: object, placement: object, *rest: object) -> object:
        ops.append(placement.kernel.ops[0])  # type: ignore[attr-defined]
        return emit(common, placement, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(numbering, "emit_kernel", noted)
    return ops


@given(conv_nets(), random_chips(), st.permutations(STRATEGIES))
@settings(max_examples=examples(EXAMPLES))
def test_any_order_of_strategies(
    sem: GraphSemantics, hardware: Hardware, strategies: list[str]
) -> None:
    check_same([(plan_of(sem, each, hardware), DEFAULT_LIMITS) for each in strategies[:4]])


@pytest.mark.parametrize("name", VARIED_CHIPS)
def test_levels_on_chips_of_each_kind(name: str) -> None:
    sem = small_model(NET)
    check_same([(plan_of(sem, each, VARIED_CHIPS[name]), DEFAULT_LIMITS) for each in STRATEGIES])


def faster(plan: Plan, **changes: object) -> Plan:
    """The same plan on a chip with other numbers."""
    return replace(plan, hardware=replace(plan.hardware, **changes))  # type: ignore[arg-type]


CHANGES: dict[str, Callable[[Plan], Plan]] = {
    "bandwidth": lambda plan: faster(plan, gb_bandwidth=plan.hardware.gb_bandwidth // 2),
    "all bandwidths": lambda plan: faster(
        plan,
        dram_bandwidth=plan.hardware.dram_bandwidth * 3,
        lb_bandwidth=plan.hardware.lb_bandwidth // 5,
        link_bandwidth=plan.hardware.link_bandwidth // 7,
    ),
    "launch": lambda plan: faster(plan, launch_cycles=7, barrier_cycles=9),
    "array": lambda plan: faster(plan, matrix_rows=plan.hardware.matrix_rows // 2),
    "latency": lambda plan: faster(plan, dram_latency_cycles=7),
    "number format": lambda plan: replace(plan, number_format="bf16"),
    "chunks": lambda plan: replace(plan, rules=replace(plan.rules, load_chunk_bytes=64)),
    "feeding": lambda plan: replace(plan, feeding=replace(plan.feeding, tiles=1)),
    "own fetches": lambda plan: replace(plan, feeding=replace(plan.feeding, has_own_fetches=True)),
    "fence": lambda plan: replace(
        plan, scheduling=replace(plan.scheduling, has_fence=not plan.scheduling.has_fence)
    ),
    "list scheduling": lambda plan: replace(
        plan, scheduling=replace(plan.scheduling, is_listed=not plan.scheduling.is_listed)
    ),
}


PRODUCT = "g (float[64,650] x, float[650,64] w) => (float[64,64] y) { y = MatMul (x, w) }"
RELU = "g (float[64,96] x) => (float[64,96] y) { y = Relu (x) }"
PLANS: dict[str, Callable[[Hardware], Plan]] = {
    "relu": lambda hardware: plan_of(weighted(RELU), "layerwise", hardware),
    "layers": lambda hardware: plan_of(weighted(PRODUCT), "layerwise", hardware),
    "groups": lambda hardware: plan_of(small_model(NET), "graphturbo", hardware),
}


@pytest.mark.parametrize(
    ("change", "what", "name"), paired(CHANGES, PLANS, ["generic-4x4", "sharing"])
)
def test_what_emission_reads_of_a_plan_beside_its_kernels(
    change: str, what: str, name: str
) -> None:
    """Nothing of a kernel itself differs: what was kept for the one plan is not the other's.

    Without a GB no address says how weights come, or whether instructions are scheduled.
    """
    one = VARIED_CHIPS[name]
    hardware = replace(one, matrix_rate=dict(one.matrix_rate, bf16=2 * one.matrix_rate["fp16"]))
    plan = PLANS[what](hardware)
    other = CHANGES[change](plan)
    check_same([(plan, DEFAULT_LIMITS), (other, DEFAULT_LIMITS), (plan, DEFAULT_LIMITS)])


def test_another_grain_of_the_same_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a set of staging slots less, two tiles that follow each other share one."""
    plan, known = plan_of(weighted(PRODUCT), "layerwise", chip("tiny")), KnownKernels()
    finest, *_ = grains(plan.rules)
    found = []
    for grain in (finest, replace(finest, staging_sets=1)):
        monkeypatch.setattr(lowering, "grains", lambda _, only=grain: (only,))
        found.append(arrays_of(lower(plan, known=known)))
        alone = arrays_of(lower(plan))
        assert all(np.array_equal(found[-1][name], alone[name]) for name in alone)
    one, other = found
    assert np.array_equal(one["program.result_lo"], other["program.result_lo"])
    assert not np.array_equal(one["buffers.offset"], other["buffers.offset"])


def test_another_graph_of_equal_kinds() -> None:
    """Kinds are numbers of one graph: in each of these models the one op's is 0."""
    text = "g (float[64,96] x) => (float[64,96] y) {{ y = {} (x) }}"
    models = [weighted(text.format(op)) for op in ("Relu", "Tanh")]
    check_same([(plan_of(model, "tvm", chip("tiny")), DEFAULT_LIMITS) for model in models])


def test_coarser_tiles_and_refusals() -> None:
    """A refusal names the same op and the same number, whatever was lowered before it."""
    plan = plan_of(small_model(NET), "graphturbo", chip("tiny"))
    size = lower(plan).size
    limits = [
        each
        for cap in (size * part // 16 for part in (1, 8, 12, 15))
        for each in (
            Limits(max_instructions=cap, max_instructions_coarsest=cap, instructions_per_op=0),
            at_most(2 * cap),
        )
    ]
    found = [outcome(plan, each, None) for each in limits]
    assert len({isinstance(each, str) for each in found}) == 2
    check_same([(plan, each) for each in (DEFAULT_LIMITS, *limits)])


def numbered(plan: Plan) -> tuple[Common, list[tuple[Setting, int]], Room, KnownKernels]:
    """What a plan's kernels are emitted from, with room for no instruction more."""
    given: list[Any] = []
    whole = numbering.number_all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "number_all", lambda *args: given.append(args) or whole(*args))
        size = lower(plan).size
    ((common, settings, room, known),) = given
    return common, settings, replace(room, max_instructions=size), known


def product_kernel() -> tuple[Common, Setting, NumberedKernel]:
    """The one kernel of a product, and what it is emitted from."""
    common, settings, _, known = numbered(plan_of(weighted(PRODUCT), "layerwise", chip("tiny")))
    ((_, kernel, _),) = known.scheduled.kernels.values()
    return common, settings[0][0], kernel


def test_a_known_kernel_without_room_is_refused_as_a_new_one() -> None:
    """Emission stops at the tile that is one too many, and says how many there were by then."""
    common, setting, kernel = product_kernel()
    size, said = len(kernel.order), []
    known = KnownKernels()
    number_all(common, [(setting, 0)], Room(size, 10**6, 0), known)
    for kept in (KnownKernels(), known):
        with pytest.raises(CapacityError) as refused:
            number_all(common, [(setting, 0)], Room(size // 2, 10**6, 0), kept)
        said.append(refused.value.fields)
    assert said[0] == said[1]
    assert size // 2 < said[0]["fewest"] < size


def test_the_longest_unused_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three with room for two: the second, since the first was asked for after it."""
    _, setting, kernel = product_kernel()
    monkeypatch.setattr(known_kernels, "MOST_KEPT", 2 * len(kernel.order))
    known = KnownKernels()
    for key in (0, 1):
        known.scheduled.keep(key, KnownTemplate(setting, kernel, None))
    assert known.scheduled.find(0) is not None
    known.scheduled.keep(2, KnownTemplate(setting, kernel, None))
    assert [known.scheduled.find(key) is None for key in range(3)] == [False, True, False]


def test_levels_that_share_kernels_emit_them_once(emitted: list[str]) -> None:
    """`gb` and `lb` differ in the kernels whose results stay in LB."""
    sem, known = small_model(NET), KnownKernels()
    plans = [plan_of(sem, f"graphturbo:{level}", chip("tiny")) for level in ("gb", "lb")]
    counts = []
    for shared_by in (None, known, known):
        emitted.clear()
        for plan in plans:
            lower(plan, known=shared_by)
        counts.append(len(emitted))
    alone, shared, again = counts
    assert 0 < shared < alone
    assert again == 0


BANDWIDTHS = ("dram_bandwidth", "gb_bandwidth", "lb_bandwidth", "link_bandwidth")


@given(conv_nets(), random_chips(), st.sampled_from(STRATEGIES), st.data())
@settings(max_examples=examples(EXAMPLES))
def test_any_bandwidths(
    sem: GraphSemantics, hardware: Hardware, strategy: str, data: st.DataObject
) -> None:
    """Code of a chip with other bandwidths is the code that emission writes."""
    chips = [hardware]
    for _ in range(2):
        speeds = {
            name: max(1, getattr(hardware, name) * data.draw(st.integers(1, 40)) // 8)
            for name in BANDWIDTHS
            if getattr(hardware, name)
        }
        chips.append(replace(hardware, **speeds))
    check_same([(plan_of(sem, strategy, each), DEFAULT_LIMITS) for each in chips])


def test_bandwidths_share_emitted_kernels(emitted: list[str]) -> None:
    """On the second chip no kernel is emitted; a move over DRAM takes twice as long."""
    plan, known = plan_of(weighted(PRODUCT), "layerwise", chip("tiny")), KnownKernels()
    slow = faster(plan, dram_bandwidth=plan.hardware.dram_bandwidth // 2)
    one = lower(plan, known=known)
    emitted.clear()
    other = lower(slow, known=known)
    assert emitted == []
    assert other.channel_cycles.max() == 2 * one.channel_cycles.max()


def test_what_is_forgotten_is_emitted_again(
    emitted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for one of two programs: the first one's kernels make room for the second's."""
    one, other = (
        plan_of(small_model(net), "graphturbo", chip("generic-4x4")) for net in (NET, "mobilenet")
    )
    monkeypatch.setattr(known_kernels, "MOST_KEPT", max(lower(one).size, lower(other).size))
    known, counts = KnownKernels(), []
    for plan in (one, one, other, other, one):
        emitted.clear()
        lower(plan, known=known)
        counts.append(len(emitted))
        assert known.scheduled.instructions == sum(
            each.instructions for each in known.scheduled.kernels.values()
        )
        assert known.scheduled.instructions <= known_kernels.MOST_KEPT
    assert [bool(count) for count in counts] == [True, False, True, False, True]


def test_placements_of_the_oldest_chips_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep has as many chips as points; a forgotten one's number is not used again."""
    monkeypatch.setattr(known_kernels, "MOST_WAYS", 2)
    plan, known = plan_of(weighted(PRODUCT), "layerwise", chip("tiny")), KnownKernels()
    plans = [faster(plan, dram_latency_cycles=cycles) for cycles in (1, 2, 3)]
    for each in (*plans, plans[0]):
        lower(each, known=known)
        assert len(known._ways) == 2, "a way of the chip, and one without its bandwidths"
        assert {way for way, _ in known._places} < set(known._ways)
    assert min(known._ways) == 6, "four lowerings had two ways each"
    check_same([(each, DEFAULT_LIMITS) for each in (*plans, *plans)])


def test_what_is_ahead_refuses_sooner(emitted: list[str]) -> None:
    """Where it counts, fewer kernels are emitted before the program is refused."""
    common, settings, room, _ = numbered(plan_of(small_model(NET), "tvm", chip("tiny")))
    all_of_it = len(emitted)
    counts = {}
    for is_counted in (True, False):
        emitted.clear()
        few = replace(room, max_instructions=room.max_instructions * 15 // 16)
        with pytest.raises(CapacityError):
            number_all(common, settings, replace(few, is_ahead_counted=is_counted), KnownKernels())
        counts[is_counted] = len(emitted)
    assert 0 < counts[True] < counts[False] <= all_of_it


def test_what_is_ahead_does_not_count_with_the_last_grains() -> None:
    """Their refusal reports how many instructions are needed, as far as that is known."""
    rooms: list[tuple[bool, bool]] = []
    whole = numbering.number_all

    def noted(common: Common, settings: Any, room: Room, known: KnownKernels) -> Any:
        grain = settings[0][0].placement.grain
        rooms.append((grain in LAST_GRAINS, room.is_ahead_counted))
        return whole(common, settings, room, known)

    plan = plan_of(small_model(NET), "tvm", chip("tiny"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "number_all", noted)
        most = lower(plan).size // 3
        limits = Limits(max_instructions=most, instructions_per_op=0)
        lower(plan, limits)
    assert {(True, False), (False, True)} == set(rooms)


def at_most(accesses: int) -> Limits:
    """So many boxes that instructions read and write."""
    return Limits(max_accesses=accesses, accesses_per_op=0)


def test_a_refused_program_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next grain needs the memory, also where all kernels but the last were emitted."""
    plan, known = plan_of(small_model(NET), "graphturbo", chip("tiny")), KnownKernels()
    monkeypatch.setattr(lowering, "grains", lambda _: (COARSEST,))
    accesses = len(lower(plan).access_buffer)
    with pytest.raises(CapacityError):
        lower(plan, at_most(accesses - 1), is_each_core_simulated=True, known=known)
    assert not known.scheduled.kernels
    lower(plan, at_most(accesses), is_each_core_simulated=True, known=known)
    assert len(known.scheduled.kernels) > 1


def test_runs_of_a_comparison_share_kernels(emitted: list[str]) -> None:
    requests = [
        RunRequest("teaching-resnet", strategy, "generic-4x4", 8)
        for strategy in ("tvm", "astitch", "tvm@4")
    ]
    data = load_sample("teaching-resnet")
    for request in requests:
        run_report(data, request)
    alone = len(emitted)
    emitted.clear()
    assert len(list(run_reports(data, requests))) == 3
    assert 0 < len(emitted) < alone
