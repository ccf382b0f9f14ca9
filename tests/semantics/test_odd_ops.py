"""Ops changed at random: import and table refuse by name, or resolve; nothing else comes out."""

from __future__ import annotations

from random import Random

import onnx
import pytest
from onnx import helper

from graphturbo_core.errors import InvariantError, ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.report.bounds.need import model_need
from graphturbo_core.semantics.table import analyse
from tests.models import model_bytes
from tests.semantics.op_cases.all_cases import ALL_CASES
from tests.semantics.op_cases.cases import Case

NUMBERS = (-9, -2, -1, 0, 1, 2, 3, 7, 100, 10**9)
SIZES = (1, 2, 3, 5, 7, 64)
VARIANTS = 4
PARTS = 8


def changed(case: Case, random: Random) -> bytes:
    """The case with another attribute, input or size."""
    head = f'<ir_version: 10, opset_import: ["" : {case.opset}, "graphturbo" : 1'
    model = onnx.parser.parse_model(f'{head}, "com.microsoft" : 1]>\n{case.text}')
    change = random.choice((_attribute, _more_attributes, _inputs, _size, _rank))
    change(model, random)
    return bytes(model.SerializeToString(deterministic=True))


def _attribute(model: onnx.ModelProto, random: Random) -> None:
    """One of the whole numbers that are there."""
    node = model.graph.node[0]
    for found in node.attribute:
        if found.type == onnx.AttributeProto.INT:
            found.i = random.choice(NUMBERS)
        elif found.type == onnx.AttributeProto.INTS and found.ints:
            found.ints[random.randrange(len(found.ints))] = random.choice(NUMBERS)


def _more_attributes(model: onnx.ModelProto, random: Random) -> None:
    """Axes that the case leaves at their default."""
    node = model.graph.node[0]
    present = {found.name for found in node.attribute}
    for name in ("axis", "batch_dims", "batch_axis", "time_axis", "group", "layout", "num_outputs"):
        if name not in present:
            node.attribute.append(helper.make_attribute(name, random.choice(NUMBERS)))
            return


def _inputs(model: onnx.ModelProto, random: Random) -> None:
    node = model.graph.node[0]
    place = random.randrange(len(node.input))
    if random.random() < 1 / 2:
        node.input[place] = ""
    else:
        del node.input[place:]


def _size(model: onnx.ModelProto, random: Random) -> None:
    dims = random.choice(model.graph.input).type.tensor_type.shape.dim
    if dims:
        dims[random.randrange(len(dims))].dim_value = random.choice(SIZES)


def _rank(model: onnx.ModelProto, random: Random) -> None:
    dims = random.choice(model.graph.input).type.tensor_type.shape.dim
    if dims and random.random() < 1 / 2:
        del dims[random.randrange(len(dims))]
    else:
        dims.add().dim_value = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_every_change_is_resolved_or_refused(part: int) -> None:
    resolved = refused = 0
    for place, case in enumerate(ALL_CASES[part::PARTS]):
        for variant in range(VARIANTS):
            data = changed(case, Random(f"{case.name} {place} {variant}"))
            try:
                semantics = analyse(import_model(data, ImportOptions("odd")))
                semantics.check()
                model_need(semantics)
                resolved += 1
            except ModelError as error:
                assert not isinstance(error, InvariantError)
                refused += 1
    assert min(resolved, refused) > len(ALL_CASES) // PARTS // 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("g (float[2,3,4] x, int64[2,5,1] i) => (float[2,5,4] y) "
         "{ y = GatherND <batch_dims = -2> (x, i) }", "has -2 batch axes, of tensors with 3 and 3"),
        ("g (float[2,3,4] x, int64[1,2] i) => (float[1,4] y) "
         "{ y = GatherND <batch_dims = 2> (x, i) }", "has 2 batch axes, of tensors with 3 and 2"),
        ("g (float[4,3] x) => (float[2,3] y) { y, z = Split <num_outputs = 3> (x) }",
         "says 3 outputs and has 2"),
    ],
)  # fmt: skip
def test_what_would_end_the_process_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        import_model(model_bytes(text, opset=18), ImportOptions("odd"))
    assert caught.value.code == "BAD_ATTRIBUTE"
