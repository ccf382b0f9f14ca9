"""Settings by one click: the paper's batches are those of its ten rows."""

from __future__ import annotations

from benchmarks.paper.rows import ROWS
from graphturbo_core.comparison.published import PaperBatches, paper_batches
from graphturbo_core.frontend.catalogue import sample_names


def test_the_presets_are_the_paper_s_rows() -> None:
    seen = set()
    for row in ROWS.values():
        for variant in row.variants:
            expected = PaperBatches(row.batch, row.tvm_batch, row.batch_of_others)
            found = paper_batches(variant.sample, variant.dims)
            assert found == expected, variant
            seen.add(variant.sample)
    lengths = [{"sequence": n} for n in (128, 256, 384, 512)]
    others = [name for name in sample_names() if name not in seen]
    assert others and not any(paper_batches(name, dims) for name in others for dims in lengths)


def test_a_model_or_length_that_the_paper_did_not_run_has_none() -> None:
    assert paper_batches("llama", {}) is None
    assert paper_batches("bert-base", {"sequence": 100}) is None
    assert paper_batches("mine (0123456789abcdef)", {"sequence": 128}) is None
