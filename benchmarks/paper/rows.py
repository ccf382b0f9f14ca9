"""The ten configurations of the paper's evaluation, and the models that represent them.

Numbers: GraphTurbo (Zhao et al., OSDI 2023), chip STCP920; those over TVM are read off bar charts,
to within 0.05. Models: docs/paper-assumptions.md, with reasons; nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

LEVELS = ("gb", "lb", "order", "full")
"""Steps of the paper's breakdown, as levels of `graphturbo`."""
NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Variant:
    """A model that a row may mean: a sample and the sizes of its other dimensions."""

    sample: str
    dims: Mapping[str, int] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True)
class PaperRow:
    """A configuration; `over_tvm`: throughputs over TVM's, None where the paper has none.

    `tvm_batch` and `batch_of_others`: cluster batches. The first of `variants` represents the row.
    """

    title: str
    batch: int
    tvm_batch: int
    batch_of_others: int
    tvm_per_s: float
    over_tvm: Mapping[str, float | None]
    variants: tuple[Variant, ...]
    remark: str = ""

    def strategies(self) -> tuple[tuple[str, float], ...]:
        """Our strategies, each with the paper's samples per second.

        AStitch has TVM's cluster batch, as another compiler without knowledge of clusters.
        """
        others = [
            (f"astitch@{self.tvm_batch}", self.over_tvm["astitch"]),
            *(
                (f"graphturbo:{level}@{self.batch_of_others}", self.over_tvm[level])
                for level in LEVELS
            ),
        ]
        tvm = (f"tvm@{self.tvm_batch}", self.tvm_per_s)
        return (tvm, *((name, self.tvm_per_s * ratio) for name, ratio in others if ratio))


def _over_tvm(
    astitch: float | None, vendor: float | None, *levels: float
) -> Mapping[str, float | None]:
    return {"astitch": astitch, "vendor": vendor, **dict(zip(LEVELS, levels, strict=True))}


def _bert(sequence: int, taken: str, other: str) -> tuple[Variant, ...]:
    return tuple(Variant(sample, {"sequence": sequence}) for sample in (taken, other))


ROWS: Mapping[str, PaperRow] = {
    "A": PaperRow(
        "ResNet-50", 64, 2, 16, 1064, _over_tvm(0.64, 8.00, 0.73, 1.09, 4.27, 7.95),
        tuple(map(Variant, ("resnet50-v15", "resnet50-slim", "resnet50-v1"))),
        "which variant of ResNet-50 the paper ran is not known",
    ),
    "B": PaperRow(
        "BERT, 128 tokens", 32, 4, 8, 512, _over_tvm(2.32, 7.91, 1.59, 3.45, 3.45, 7.91),
        _bert(128, "bert-base", "bert-large"),
        "large is not plausible: the paper's rate is above its ceiling",
    ),
    "C": PaperRow(
        "BERT, 256 tokens", 16, 2, 4, 412, _over_tvm(1.27, 7.86, 1.00, 2.23, 3.32, 6.50),
        _bert(256, "bert-base", "bert-large"),
        "above what DRAM gives when each cluster reads all weights; large is not plausible",
    ),
    "D": PaperRow(
        "BERT, 384 tokens", 8, 1, 2, 36, _over_tvm(3.09, 4.77, 2.55, 3.77, 3.86, 7.77),
        _bert(384, "bert-large", "bert-base"),
        "looks like large: the rate falls 9.6 times from row C",
    ),
    "E": PaperRow(
        "BERT, 512 tokens", 8, 1, 2, 324, _over_tvm(1.05, 8.73, 1.09, 1.55, 3.91, 7.23),
        _bert(512, "bert-base", "bert-large"),
        "the paper's rate is above the chip's peak for base, and for large",
    ),
    "F": PaperRow(
        "DLRM", 1024, 64, 256, 131_000, _over_tvm(1.82, 3.64, 0.82, 3.00, 3.00, 3.64),
        tuple(map(Variant, ("dlrm", "dlrm-random", "dlrm-rm1", "dlrm-rm2", "dlrm-rm3"))),
        "the model of DLRM's own paper; which one was run is not known, RM2 is not plausible",
    ),
    "G": PaperRow(
        "MobileNet-v2", 128, 2, 32, 1416, _over_tvm(0.59, 8.45, 1.05, 1.09, 5.27, 8.27),
        (Variant("mobilenet-v2"),),
    ),
    "H": PaperRow(
        "ViT", 32, 4, 8, 40, _over_tvm(None, None, 0.68, 16.90, 16.90, 25.00),
        (Variant("vit-b16"), Variant("vit-l16")),
        "whether B/16 or L/16 is not known",
    ),
    "I": PaperRow(
        "DenseNet", 32, 4, 8, 456, _over_tvm(2.14, None, 1.77, 2.50, 10.68, 18.22),
        tuple(map(Variant, ("densenet-121", "densenet-169", "densenet-201"))),
        "which DenseNet the paper ran is not known",
    ),
    "J": PaperRow(
        "Conformer", 12, 1, 3, 184, _over_tvm(2.36, None, 2.55, 2.73, 2.95, 3.95),
        tuple(map(Variant, ("conformer", "conformer-s", "conformer-l"))),
        "size and length of speech are not known: M, ten seconds",
    ),
}  # fmt: skip
"""Rows by the letters of docs/paper-assumptions.md."""
