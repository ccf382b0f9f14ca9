"""The lower bound: each of its terms by hand, and divisions that it must not exceed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import EngineKind, Hardware, MatrixModel
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.bounds.bounds import compulsory_bytes, model_terms_s
from graphturbo_core.report.bounds.engine_bounds import EngineLoad, engine_load
from graphturbo_core.report.bounds.need import model_need
from graphturbo_core.semantics.cost import least_cycles_per_mac, matrix_cycles
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.registry import parse_strategy
from tests.data.exports import exported
from tests.full import SLOW
from tests.models import graph_of, model_bytes
from tests.report.bounds.random_schedules import file_of, random_schedule
from tests.strategies.plans import make_plan

GHZ = 1e9


def chip() -> Hardware:
    """4 clusters x 4 cores at 1 GHz: arrays of 32 x 32, 32 lanes, 16 GB/s of DRAM a cluster."""
    return load_profile("generic-4x4")


def terms(text: str, clusters: int = 1, number_format: str = "fp16", **changes: object) -> object:
    """Cycles of each term, at 1 GHz."""
    sem, hardware = analyse(graph_of(text)), replace(chip(), **changes)
    found = model_terms_s(sem, model_need(sem), hardware, (number_format, clusters))
    return {term: round(seconds * GHZ) for term, seconds in found.items()}


CONV = """conv (float[2, 8, 9, 9] x, float[40, 8, 3, 3] w) => (float[2, 40, 9, 9] y) {
    y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }"""


def test_the_terms_of_a_convolution() -> None:
    """M = 2 x 81 = 162 rows are 6 passes of 32, 40 columns 2, K = 72: 864 cycles over 4 arrays.

    16 cycles a byte of DRAM are 1/16 GB/s: x 1,296, w 2,880 and y 6,480 elements of two bytes.
    """
    size = 2 * (2 * 8 * 81 + 40 * 72 + 2 * 40 * 81)
    assert terms(CONV) == {"matrix": 216, "vector": 0, "engines": 216, "dram": size // 16}
    assert terms(CONV, 4) == {"matrix": 54, "vector": 0, "engines": 54, "dram": size // 64}
    # Two steps of K a cycle in int8, and one byte an element.
    assert terms(CONV, 1, "int8") == {
        "matrix": 108, "vector": 0, "engines": 108, "dram": size // 32,
    }  # fmt: skip


VECTOR = """act (float[4, 100] x) => (float[4, 100] y) { t = Exp(x)  y = Relu(t) }"""


def test_the_vector_term() -> None:
    """400 exponentials of 4 operations and 400 operations: 50 + 13 cycles of 32 lanes, 4 cores."""
    assert terms(VECTOR) == {"matrix": 0, "vector": 16, "engines": 16, "dram": 100}
    # With DRAM 1,000 times as fast it is the largest.
    found = terms(VECTOR, dram_bandwidth=16 * 10**12)
    assert found == {"matrix": 0, "vector": 16, "engines": 16, "dram": 1}


def test_bfloat16_has_two_bytes_and_its_own_rate() -> None:
    """As fp16 on all our chips, so the rate is taken from a chip on which it is not."""
    rates = {"fp32": 1, "fp16": 1, "bf16": 4, "int8": 2}
    lanes = {"fp32": 1, "fp16": 1, "bf16": 2, "int8": 1}
    found = terms(CONV, 1, "bf16", matrix_rate=rates)
    assert found == {"matrix": 54, "vector": 0, "engines": 54, "dram": 21312 // 16}
    found = terms(VECTOR, 1, "bf16", vector_rate=lanes)
    # 1,600 operations of Exp over 64 lanes are 25 cycles, 400 of Relu 7: 32 over 4 cores.
    assert found == {"matrix": 0, "vector": 8, "engines": 8, "dram": 100}
    sem = analyse(graph_of(VECTOR))
    assert compulsory_bytes(sem, model_need(sem), "bf16") == 2 * 800


def test_a_weight_of_two_layers_crosses_dram_once() -> None:
    text = """shared (float[32, 64] x, float[64, 64] w) => (float[32, 64] y) {
        t = MatMul(x, w)
        y = MatMul(t, w)
    }"""
    # Each product: one pass of rows, two of columns, 64 steps of K.
    size = 2 * (32 * 64 + 64 * 64 + 32 * 64)
    assert terms(text) == {"matrix": 64, "vector": 0, "engines": 64, "dram": size // 16}


DEPTHWISE = """deep (float[1, 64, 16, 16] x, float[64, 1, 3, 3] w) => (float[1, 64, 16, 16] y) {
    y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 64>(x, w) }"""


def test_depthwise_work_is_divided_between_both_kinds() -> None:
    """147,456 MACs: 4,608 cycles of 32 lanes, and as many of an array with one column in use.

    One vector and one matrix engine per core share them evenly: 2,304 cycles over 4 cores.
    """
    found = terms(DEPTHWISE)
    size = 2 * (2 * 64 * 256 + 64 * 9)
    assert found == {"matrix": 0, "vector": 0, "engines": 576, "dram": size // 16}


def test_the_best_division_is_that_of_the_linear_program() -> None:
    """100 cycles of matrix work; grouped: 40 or 400, and 300 or 100 (matrix or vector).

    All of the first on the matrix engine is 140 against 100, and moving the second makes that
    longer; moving part of the first: 100 + 40 s = 500 - 400 s at s = 400/440: 136.4, so 137.
    """
    load = EngineLoad(100, 0, ((300, 100), (40, 400)))
    assert load.together(1, 1) == 137
    assert load.cycles(1, 1) == {EngineKind.MATRIX: 100, EngineKind.VECTOR: 0}
    # Nothing moves where the matrix engines are the longer kind anyway.
    assert EngineLoad(900, 0, ((300, 100), (40, 400))).together(1, 1) == 900
    # Two matrix engines: 50 + 20 s = 500 - 400 s is above 1, so all of the first moves; then
    # 70 + 150 s = 100 - 100 s at s = 0.12: 88.
    assert load.together(2, 1) == 88


def cut(size: int, random: Random) -> list[int]:
    """Extents of a random division of an axis."""
    edges = sorted({0, size, *(random.randint(0, size) for _ in range(random.randint(0, 3)))})
    return [hi - lo for lo, hi in pairwise(edges)]


@pytest.mark.parametrize("model", MatrixModel)
def test_no_division_of_a_product_takes_fewer_cycles(model: MatrixModel) -> None:
    """Random divisions of M, N and K; each part at its own rate, which none undercuts."""
    random = Random(model.value)
    for _ in range(300):
        hardware = replace(
            chip(), matrix_model=model, matrix_rows=random.choice((1, 4, 7)),
            matrix_columns=random.choice((1, 3, 8)), matrix_depth=random.choice((1, 4)),
        )  # fmt: skip
        sizes = m, n, k = tuple(random.randint(1, 40) for _ in range(3))
        parts = list(product(cut(m, random), cut(n, random), cut(k, random)))
        cycles = [matrix_cycles(part, hardware, "fp16") for part in parts]
        assert matrix_cycles(sizes, hardware, "fp16") <= sum(cycles)
        rate = least_cycles_per_mac(sizes, hardware, "fp16")
        for (own_m, own_n, own_k), own in zip(parts, cycles, strict=True):
            assert own >= own_m * own_n * own_k * rate


def test_two_parts_of_a_need_may_share_an_instruction() -> None:
    """40 columns of one row and 20 of all 40: no more than the larger part, or MACs at full rate.

    20 columns x 40 rows x K = 64: 2 passes of rows, one of columns, 128 cycles. All 20 x 40 + 20
    results at the best rate are 820 x 64 / 1,024 = 51.25.
    """
    text = """two (float[40, 64] x, float[64, 40] w) => (float[1, 40] q, float[40, 20] k)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] some = {20}> {
        p = MatMul(x, w)
        q = Slice(p, zero, one, zero)
        k = Slice(p, zero, some, one)
    }"""
    sem = analyse(graph_of(text))
    need = model_need(sem)
    assert need.macs == (20 * 40 + 20) * 64
    load = engine_load(sem, need.regions, chip(), "fp16")
    assert load == EngineLoad(128, 0, ())


def test_what_every_element_takes_is_added_up_over_parts() -> None:
    """Eight blocks of 8 x 8 means of two numbers: 512 of one operation each, on 32 lanes.

    A block alone, its sums of two included, takes 64 x (2 + 1) / 32 = 6 cycles.
    """
    blocks = range(8)
    axes = ", ".join(f"int64[2] at{8 * n} = {{{8 * n}, {8 * n}}}" for n in range(9))
    cuts = "\n".join(f"y{n} = Slice(p, at{8 * n}, at{8 * n + 8})" for n in blocks)
    results = ", ".join(f"float[8, 8] y{n}" for n in blocks)
    text = f"""blocks (float[64, 64, 2] x) => ({results}) <{axes}> {{
        p = ReduceMean <axes = [2], keepdims = 0> (x)
        {cuts}
    }}"""
    sem = analyse(graph_of(text))
    need = model_need(sem)
    assert len(need.regions["p"].parts) == len(blocks)
    assert engine_load(sem, need.regions, chip(), "fp16") == EngineLoad(0, 512 // 32, ())


def test_moves_and_views_cost_no_cycles() -> None:
    text = """moved (float[8, 6] x) => (float[6, 8] y) { y = Transpose(x) }"""
    sem: GraphSemantics = analyse(graph_of(text))
    load = engine_load(sem, model_need(sem).regions, chip(), "fp16")
    assert load == EngineLoad(0, 0, ())


EVERY_DAY, ALL = 200, 2_000


@pytest.mark.parametrize(
    "seeds", [range(EVERY_DAY), pytest.param(range(EVERY_DAY, ALL), marks=SLOW)]
)
def test_no_random_schedule_is_shorter(seeds: range) -> None:
    """Of random networks under random plans on random chips; most are neither refused nor far off.

    Of each term some schedules come within a tenth, so that one which is a tenth too large is seen.
    """
    refused, near = 0, dict.fromkeys(("matrix", "vector", "engines", "dram"), 0)
    for seed in seeds:
        found = random_schedule(seed)
        sem = found.semantics()
        bound = model_terms_s(sem, model_need(sem), found.hardware, (found.number_format, 1))
        try:
            plan = make_plan(
                parse_strategy(found.strategy), sem, found.hardware, found.number_format,
                found.options,
            )  # fmt: skip
            makespan = simulate(lower(plan)).makespan
        except CapacityError:
            refused += 1
            continue
        for term, seconds in bound.items():
            cycles = round(seconds * GHZ)
            assert cycles <= makespan, (seed, term, found)
            near[term] += makespan <= 1.1 * cycles
    assert refused < len(seeds) // 10
    assert min(near.values()) > 0, near


@pytest.mark.parametrize("gb_bytes", [0, 2**21])
@pytest.mark.parametrize("strategy", ["layerwise", "tvm", "graphturbo"])
def test_a_schedule_reaches_the_bound(strategy: str, gb_bytes: int) -> None:
    """1 byte of DRAM a cycle, all else in no time but a cycle: 256 numbers in and out are 1,024.

    While one core computes, another core's part is on the way, so DRAM never waits.
    """
    fast = 10**15
    hardware = replace(
        chip(), gb_bytes=gb_bytes, dma_engines=2 if gb_bytes else 0, dram_bandwidth=10**9,
        lb_bandwidth=fast, gb_bandwidth=fast if gb_bytes else 0, dram_latency_cycles=0,
        gb_latency_cycles=0, launch_cycles=0, barrier_cycles=0,
    )  # fmt: skip
    sem = analyse(graph_of("g (float[4, 64] x) => (float[4, 64] y) { y = Relu(x) }"))
    bound = model_terms_s(sem, model_need(sem), hardware, ("fp16", 1))
    assert round(max(bound.values()) * GHZ) == 2 * 256 * 2
    plan = make_plan(parse_strategy(strategy), sem, hardware, "fp16", {})
    assert simulate(lower(plan)).makespan == 2 * 256 * 2


PRODUCT = """g (float[{batch}, 32, 64] x, float[64, 64] w) => (float[{batch}, 32, 64] y)
    { y = MatMul(x, w) }"""
MIXED = """g (float[{batch}, 32, 64] x, float[64, 64] w) => (float[{batch}, 32, 64] y)
    { t = MatMul(x, w)  y = Softmax<axis = 0>(t) }"""


def cycles_of(text: str, batch: int, profile: str, strategy: str = "tvm") -> dict[str, int]:
    """Cycles of the terms in the contract, of chips at 1 GHz."""
    data = file_of(text.replace("{batch}", str(batch)).replace("\n", " "))
    (report,) = run_reports(data, [RunRequest("g", strategy, profile, batch)])
    contract = report.contract
    found: dict[str, float] = contract["lower_bound_terms"]  # type: ignore[assignment]
    assert contract["lower_bound_s"] == max(found.values())
    return {term: round(seconds * GHZ) for term, seconds in found.items()}


@pytest.mark.parametrize("strategy", ["tvm@1", "graphturbo"])
def test_the_largest_share_bounds_a_batch_that_is_divided(strategy: str) -> None:
    """Of 5 samples on 4 clusters one takes 2, with all 4,096 weights for itself.

    64 rows and 64 columns are 2 x 2 passes of K = 64 over 4 arrays; (2 x 2,048 + 4,096 + 2 x 2,048)
    numbers of two bytes take 16 bytes a cycle.
    """
    found = cycles_of(PRODUCT, 5, "generic-4x4", strategy)
    assert found == {"matrix": 64, "vector": 0, "engines": 64, "dram": 2 * 3 * 4096 // 16}


def test_clusters_that_may_share_one_sample_need_weights_once_per_chip() -> None:
    """8,192 numbers of two bytes: through all four shares of STCP920's 108 GB/s, or one of 16."""
    assert cycles_of(PRODUCT, 1, "stcp920")["dram"] == 152
    assert cycles_of(PRODUCT, 1, "generic-4x4")["dram"] == 2 * 8192 // 16


def test_all_work_over_all_clusters_bounds_a_share_of_unknown_need() -> None:
    """Swin-T gathers by indices without numbers: what the first sample needs is not known.

    17,962 million MACs, of which 32 arrays of 64 x 32 do 65,536 a cycle.
    """
    request = RunRequest("swin", "graphturbo@1", "stcp920", 4, has_pictures=False)
    (found,) = run_reports(exported("swin_t_fixed_dynamo"), [request])
    contract = found.contract
    assert contract["macs"] == 17_962_266_624
    least_cycles = contract["macs"] / 65_536
    assert contract["lower_bound_terms"]["matrix"] * GHZ > least_cycles


def test_a_batch_that_is_not_divided_is_one_clusters() -> None:
    """A softmax over samples: 5 x 2,048 numbers in and out, and the weights."""
    found = cycles_of(MIXED, 5, "generic-4x4")
    assert found["dram"] == 2 * (2 * 5 * 2048 + 4096) // 16


STRIDED = """g (float[{batch}, 4, 8, 8] x, float[4, 4, 1, 1] a, float[4, 4, 1, 1] b)
    => (float[{batch}, 4, 4, 4] y) {
        t = Conv<kernel_shape = [1, 1]>(x, a)
        y = Conv<kernel_shape = [1, 1], strides = [2, 2]>(t, b) }"""
ASKED = """g (float[8, 6] x, float[6, 5] w, int64[3] i) => (float[3, 5] y) {
        p = MatMul(x, w)
        y = Gather(p, i) }"""


def contract_of(data: bytes, batch: int | None = None) -> dict[str, Any]:
    """The contract of a run on the teaching chip."""
    (report,) = run_reports(data, [RunRequest("g", "tvm", "generic-4x4", batch)])
    return dict(report.contract)


def test_macs_are_the_models_and_needed_ones_stand_beside_them() -> None:
    """Of t's 64 places per map the second convolution reads 16: 48 x 4 x 4 MACs per sample."""
    contract = contract_of(file_of(STRIDED.replace("{batch}", "3").replace("\n", " ")), 3)
    assert contract["macs"] == 3 * (64 + 16) * 4 * 4
    assert contract["needed_macs"] == {"macs": 3 * (16 + 16) * 4 * 4, "is_exact": True}
    told = f"no output needs the results of {3 * 48 * 16} of the model's MACs"
    assert told in contract["notes"]


def test_of_a_lower_bound_of_needs_no_note_says_that_the_rest_is_not_needed() -> None:
    """Indices that only the data know choose 3 of 8 rows of a product."""
    contract = contract_of(model_bytes(ASKED))
    assert contract["macs"] == 8 * 5 * 6
    assert contract["needed_macs"] == {"macs": 3 * 5 * 6, "is_exact": False}
    told = f"outputs need at least {3 * 5 * 6} of the model's MACs; bounds count no others"
    assert told in contract["notes"]
    assert not any("no output needs" in note for note in contract["notes"])


OPAQUE = """g (float[n, 400] x, float[1, 400] z, int64 axis) => (float[n, 400] y) {
    a = CumSum(x, axis)  y = Add(a, z) }"""


def test_work_that_is_counted_by_bytes_is_shared_in_proportion() -> None:
    """An op without semantics: 16 x 400 numbers of two bytes in and out and 4 bytes of axis.

    A quarter of these 25,604 operations is 6,401, 201 cycles of 32 lanes; 1,600 sums are 50.
    """
    terms_s = contract_of(model_bytes(OPAQUE), 16)["lower_bound_terms"]
    assert round(terms_s["vector"] * GHZ) == -(-(201 + 50) // 4)
