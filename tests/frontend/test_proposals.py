"""Sizes that a file proposes for its own dimensions."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions, read_input_dims
from graphturbo_core.frontend.parse.proposals import PROPOSED_DIMS
from graphturbo_core.ir.graph import Graph
from tests.models import imported, model_of


def proposing(text: str, symbols: str = "batch,rows") -> bytes:
    model = model_of(f"g (float[{symbols}] x) => (float[{symbols}] y) {{ y = Relu(x) }}")
    model.metadata_props.add(key=PROPOSED_DIMS, value=text)
    return bytes(model.SerializeToString())


def shape(graph: Graph) -> tuple[int, ...]:
    return graph.tensors["x"].shape


def test_proposed_sizes_stand_where_nobody_gives_others() -> None:
    data = proposing("batch=3, rows=5")
    graph = imported(data)
    assert shape(graph) == (3, 5)
    assert graph.notes == (
        "symbolic dimension 'batch' was not given: 3",
        "symbolic dimension 'rows' was not given: 5",
    )
    assert shape(imported(data, ImportOptions("m", batch=7))) == (7, 5)
    assert shape(imported(data, ImportOptions("m", dims={"rows": 2}))) == (3, 2)


def test_without_a_proposal_nothing_changes() -> None:
    assert shape(imported(proposing("rows=5"))) == (64, 5)
    with pytest.raises(ModelError, match="'rows' has no size"):
        imported(proposing("batch=3"))
    with pytest.raises(ModelError, match="'batch' has no size"):
        imported(proposing("n=3", "n,batch"), ImportOptions("m", batch=2))


def test_the_form_is_told() -> None:
    found = [(dim.symbol, dim.proposed) for dim in read_input_dims(proposing("rows=5"))]
    assert found == [("batch", None), ("rows", 5)]


@pytest.mark.parametrize("text", ["", "rows", "rows=", "rows=0", "=4", "rows=4294967296", "a=1,,"])
def test_what_proposes_no_size_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="proposes no size of a dimension") as caught:
        read_input_dims(proposing(text))
    assert caught.value.code == "BAD_PROPOSAL"
    assert PROPOSED_DIMS in caught.value.where
