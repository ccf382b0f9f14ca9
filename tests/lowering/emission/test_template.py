"""A kernel copied from its class's template is the kernel that would have been emitted."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import numbering
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from sample_models import build_samples
from sample_models.bert import BertSize, bert
from tests.full import often, paired
from tests.lowering.chips import VARIED_CHIPS
from tests.lowering.counting import check_program
from tests.lowering.equality import arrays_of
from tests.lowering.nets import STRATEGIES, analysed, chip, plan_of
from tests.models import graph_of, imported
from tests.strategies.samples import weighted


def _wide(channels: int) -> str:
    """One convolution to so many channels."""
    return f"""
g (float[1,8,16,16] x) => (float[1,{channels},16,16] y) {{
  s = Constant<value_ints=[{channels},8,3,3]>()
  w = ConstantOfShape(s)
  c = Conv<pads=[1,1,1,1]>(x, w)
  y = Relu(c)
}}"""


def _small_resnet(batch: int) -> GraphSemantics:
    return analysed(build_samples.resnet("v15", (2, 1), 8, 32, 10), batch)


@pytest.mark.parametrize("strategy", ["graphturbo:order", "graphturbo"])
@pytest.mark.parametrize("name", ["tiny", "generic-4x4"])
@pytest.mark.parametrize("batch", [1, 4])
def test_copies_equal_what_they_stand_for(
    monkeypatch: pytest.MonkeyPatch, strategy: str, name: str, batch: int
) -> None:
    plan = plan_of(_small_resnet(batch), strategy, chip(name))
    copied = arrays_of(lowering.lower(plan))
    monkeypatch.setattr(numbering, "template_key", lambda setting, kinds: id(setting))
    emitted = arrays_of(lowering.lower(plan))
    assert copied.keys() == emitted.keys()
    for key, value in copied.items():
        assert np.array_equal(value, emitted[key]), key


@pytest.mark.parametrize("channels", [64, 96, 256])
def test_a_split_over_channels_takes_other_weights(
    monkeypatch: pytest.MonkeyPatch, channels: int
) -> None:
    """Pieces of output channels read pieces of the weights: their places count in the key.

    Where all weights have a place in GB, each piece still fetches its own.
    """
    plan = plan_of(analyse(graph_of(_wide(channels))), "graphturbo:order", chip("tiny"))
    program = lowering.lower(plan)
    check_program(simulate(program))
    copied = arrays_of(program)
    monkeypatch.setattr(numbering, "template_key", lambda setting, kinds: id(setting))
    emitted = arrays_of(lowering.lower(plan))
    assert all(np.array_equal(copied[key], emitted[key]) for key in copied)


def _blocks(*ops: str) -> GraphSemantics:
    """Blocks of the same sizes, one for each op: two products, the op, a skip connection."""
    body = "\n".join(
        f"""
  a{n} = MatMul (x{n}, w{n})
  {op}
  c{n} = MatMul (b{n}, v{n})
  x{n + 1} = Add (c{n}, x{n})"""
        for n, op in ((n, op.format(n=n)) for n, op in enumerate(ops))
    )
    weights = ", ".join(f"float[32,32] w{n}, float[32,32] v{n}" for n in range(len(ops)))
    last = f"x{len(ops)}"
    return weighted(f"g (float[32,32] x0, {weights}) => (float[32,32] {last}) {{{body}}}")


def _emitted(monkeypatch: pytest.MonkeyPatch, plan: Plan) -> tuple[dict[str, np.ndarray], int]:
    """The program's arrays, and how many of its kernels were not copied."""
    calls = 0
    emit = numbering.emit_kernel

    def counted(*given: object) -> object:
        nonlocal calls
        calls += 1
        return emit(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(numbering, "emit_kernel", counted)
        program = lowering.lower(plan)
    check_program(simulate(program))
    return arrays_of(program), calls


def _check_copies(monkeypatch: pytest.MonkeyPatch, plan: Plan) -> int:
    """How many kernels were emitted; the arrays are those of every kernel emitted."""
    copied, calls = _emitted(monkeypatch, plan)
    monkeypatch.setattr(numbering, "template_key", lambda setting, kinds: id(setting))
    emitted, every = _emitted(monkeypatch, plan)
    assert every == len(plan.kernels)
    for key, value in copied.items():
        assert np.array_equal(value, emitted[key]), key
    return calls


@pytest.mark.parametrize(
    ("op", "strategy", "name"),
    paired(["b{n} = Relu (a{n})", "b{n} = MatMul (a{n}, w{n})"], STRATEGIES, VARIED_CHIPS),
)
def test_blocks_with_other_names_are_copied(
    monkeypatch: pytest.MonkeyPatch, op: str, strategy: str, name: str
) -> None:
    """Names and numbers are all that eight equal blocks differ by; a weight read twice is shared
    between LBs where a chip does so.
    """
    plan = plan_of(_blocks(*[op] * 8), strategy, VARIED_CHIPS[name])
    calls = _check_copies(monkeypatch, plan)
    assert calls <= max(1, len(plan.kernels) // 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("b{n} = Relu (a{n})", "b{n} = Tanh (a{n})"),
        ("b{n} = Relu (a{n})", "b{n} = Add (a{n}, a{n})"),
        ("b{n} = Add (a{n}, x{n})", "b{n} = Add (a{n}, a{n})"),
        ("b{n} = Sub (a{n}, x{n})", "b{n} = Sub (x{n}, a{n})"),
        ("b{n} = MatMul (a{n}, v{n})", "b{n} = Gemm<transB=1> (a{n}, v{n})"),
    ],
)
def test_blocks_of_other_ops_are_not(
    monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    """All shapes are equal: what an op reads, and what that costs, tells the kernels apart."""
    alike = _check_copies(monkeypatch, plan_of(_blocks(*[first] * 8), "tvm", chip("tiny")))
    monkeypatch.undo()
    mixed = _check_copies(monkeypatch, plan_of(_blocks(*[first, second] * 4), "tvm", chip("tiny")))
    assert mixed > alike


@pytest.mark.parametrize("name", often(VARIED_CHIPS, ("generic-4x4",)))
def test_layers_of_a_transformer_are_copied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six layers a Relay layer a kernel: the second to the fifth are alike."""
    size = BertSize(layers=6, hidden=16, heads=2, vocabulary=32, positions=16)
    model = imported(
        bert(size, {"batch": 2, "sequence": 8}).SerializeToString(),
        ImportOptions("bert", dims={"batch": 2, "sequence": 8}),
    )
    plan = plan_of(analyse(model), "tvm", VARIED_CHIPS[name])
    assert _check_copies(monkeypatch, plan) <= len(plan.kernels) // 2
