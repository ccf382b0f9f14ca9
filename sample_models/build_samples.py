"""Writes the sample models: real architectures, symbolic sizes, weights without bytes.

Run `python -m sample_models.build_samples` to write the files beside this script, or with
`--check` to rebuild them in memory and compare. Nothing is random and no clock is read: every
run gives the same bytes. A weight is an initializer that refers to a file that does not exist, so
each sample is some kilobytes of structure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import onnx

from sample_models.bert import BERT_LARGE, bert
from sample_models.conformer import CONFORMER_L, CONFORMER_S, conformer
from sample_models.densenet import DENSENET169_BLOCKS, DENSENET201_BLOCKS, densenet
from sample_models.dlrm import RANDOM_DATA, RM1, RM2, RM3, dlrm
from sample_models.learn_net import learn_net, learn_net_wide
from sample_models.llama import llama
from sample_models.mobilenet import mobilenet_v2
from sample_models.resnet import resnet, teaching_resnet
from sample_models.vit import VIT_L16, vit

SAMPLES: Mapping[str, Callable[[], onnx.ModelProto]] = MappingProxyType(
    {
        "resnet50-v1": lambda: resnet("v1"),
        "resnet50-v15": lambda: resnet("v15"),
        "resnet50-slim": lambda: resnet("slim"),
        "mobilenet-v2": mobilenet_v2,
        "densenet-121": densenet,
        "densenet-169": lambda: densenet(DENSENET169_BLOCKS),
        "densenet-201": lambda: densenet(DENSENET201_BLOCKS),
        "teaching-resnet": teaching_resnet,
        "learn-net": learn_net,
        "learn-net-wide": learn_net_wide,
        "bert-base": bert,
        "bert-large": lambda: bert(BERT_LARGE),
        "vit-b16": vit,
        "vit-l16": lambda: vit(VIT_L16),
        "dlrm": dlrm,
        "dlrm-random": lambda: dlrm(RANDOM_DATA),
        "dlrm-rm1": lambda: dlrm(RM1),
        "dlrm-rm2": lambda: dlrm(RM2),
        "dlrm-rm3": lambda: dlrm(RM3),
        "conformer": conformer,
        "conformer-s": lambda: conformer(CONFORMER_S),
        "conformer-l": lambda: conformer(CONFORMER_L),
        "llama": llama,
    }
)


def sample_bytes(name: str) -> bytes:
    """The file of a sample."""
    return bytes(SAMPLES[name]().SerializeToString(deterministic=True))


def main(arguments: Sequence[str]) -> int:
    """Writes the files, or compares them with `--check`; returns 1 when one differs."""
    folder = Path(__file__).resolve().parent
    stale = []
    for name in SAMPLES:
        path, data = folder / f"{name}.onnx", sample_bytes(name)
        if "--check" not in arguments:
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            stale.append(path.name)
    sys.stdout.writelines(f"differs: {name}\n" for name in stale)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
