"""Writes the exports in this folder anew, in an environment of its own.

`pip install torch==2.13.0 torchvision==0.28.0 transformers==4.57.6 onnxscript==0.7.2`, then
`python tests/data/export_models.py NAME ...` with names of `MODELS` followed by `_ts`
(TorchScript, opset 17) or `_dynamo` (opset 18). Weights are random and left out.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import onnx
import torch

KEPT_BYTES = 1024
"""Initializers up to this size stay: they hold shapes, axes and scales."""
KEPT_INTEGERS = 4096
"""Most integers of an initializer that is not stripped: some are indices of a pooling."""
IMAGE = ("pixel", torch.zeros(2, 3, 224, 224))
LARGER_IMAGE = ("pixel", torch.zeros(2, 3, 299, 299))
TOKENS = ("input_ids", torch.ones(2, 16, dtype=torch.long))
BATCH = {0: "batch"}
SIDES = {0: "batch", 2: "height", 3: "width"}
WORDS = {0: "batch", 1: "sequence"}


class _Logits(torch.nn.Module):
    """A decoder from tokens to logits.

    The TorchScript exporter cannot follow the library's own mask, so that it is made here.
    """

    def __init__(self, model: torch.nn.Module, has_mask: bool) -> None:
        super().__init__()
        self.model, self.has_mask = model, has_mask

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if not self.has_mask:
            return self.model(tokens, use_cache=False).logits
        size = tokens.shape[1]
        lowest = torch.finfo(torch.float32).min
        mask = torch.full((size, size), lowest).triu(1)[None, None]
        mask = mask.expand(tokens.shape[0], 1, size, size)
        return self.model(tokens, attention_mask=mask, use_cache=False).logits


class _Hidden(torch.nn.Module):
    """An encoder from tokens to its last hidden state, without a mask."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(tokens).last_hidden_state


def _vision(name: str) -> Callable[[bool], torch.nn.Module]:
    def build(_is_script: bool) -> torch.nn.Module:
        from torchvision import models  # noqa: PLC0415 - after `define_operators`

        return getattr(models, name)(weights=None)

    return build


LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
OPERATORS = (
    "nms", "qnms", "roi_align", "_roi_align_backward", "ps_roi_align", "qroi_align",
    "_ps_roi_align_backward", "roi_pool", "_roi_pool_backward", "ps_roi_pool",
    "_ps_roi_pool_backward", "deform_conv2d", "_deform_conv2d_backward",
)  # fmt: skip


def define_operators() -> None:
    """Names that a torchvision built for another torch looks for; no model here calls them."""
    for operator in OPERATORS:
        if not hasattr(torch.ops.torchvision, operator):
            LIBRARY.define(f"{operator}(Tensor a) -> Tensor")


def _llama(is_script: bool) -> torch.nn.Module:
    """32 layers as they are in use, 256 wide so that they run in a test."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415 - not for vision

    config = LlamaConfig(
        vocab_size=1000, hidden_size=256, intermediate_size=688, num_hidden_layers=32,
        num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=512,
        attn_implementation="eager" if is_script else "sdpa",
    )  # fmt: skip
    return _Logits(LlamaForCausalLM(config), is_script)


def _gpt2(is_script: bool) -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel  # noqa: PLC0415 - not for vision

    config = GPT2Config(attn_implementation="eager" if is_script else "sdpa")
    return _Logits(GPT2LMHeadModel(config), is_script)


def _bert(is_script: bool) -> torch.nn.Module:
    from transformers import BertConfig, BertModel  # noqa: PLC0415 - not for vision

    return _Hidden(BertModel(BertConfig(attn_implementation="eager" if is_script else "sdpa")))


MODELS: dict[str, tuple[Callable[[bool], torch.nn.Module], tuple[str, Any], dict[int, str]]] = {
    "mobilenet_v2": (_vision("mobilenet_v2"), IMAGE, SIDES),
    "densenet121": (_vision("densenet121"), IMAGE, SIDES),
    "inception_v3": (_vision("inception_v3"), LARGER_IMAGE, BATCH),
    "convnext_tiny": (_vision("convnext_tiny"), IMAGE, BATCH),
    "vit_b_16": (_vision("vit_b_16"), IMAGE, BATCH),
    "swin_t": (_vision("swin_t"), IMAGE, SIDES),
    "swin_t_fixed": (_vision("swin_t"), IMAGE, BATCH),
    "llama32": (_llama, TOKENS, WORDS),
    "gpt2": (_gpt2, TOKENS, WORDS),
    "bert_base": (_bert, TOKENS, WORDS),
}


def export(name: str, folder: Path) -> Path:
    """The full model in a file of the folder, weights in it or beside it."""
    model_name, _, exporter = name.rpartition("_")
    build, (input_name, example), axes = MODELS[model_name]
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)
    is_script = exporter == "ts"
    model = build(is_script).eval()
    path = folder / f"{name}.onnx"
    names: dict[str, Any] = {"input_names": [input_name], "output_names": ["out"]}
    if is_script:
        dynamic = {input_name: axes, "out": BATCH}
        torch.onnx.export(
            model, (example,), path, opset_version=17, dynamic_axes=dynamic, dynamo=False, **names
        )
    else:
        program = torch.onnx.export(
            model, (example,), opset_version=18, dynamic_shapes=(axes,), dynamo=True, **names
        )
        program.save(path)
    return path


def strip(model: onnx.ModelProto) -> None:
    """Leave out weights above `KEPT_BYTES`, and what the exporter tells of Python's source."""
    tensors = [*model.graph.initializer]
    tensors += [a.t for node in model.graph.node for a in node.attribute if a.HasField("t")]
    for tensor in tensors:
        size = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        is_index = tensor.data_type == onnx.TensorProto.INT64 and prod(tensor.dims) <= KEPT_INTEGERS
        if is_index or prod(tensor.dims) * size <= KEPT_BYTES:
            continue
        kept = onnx.TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
        kept.data_location = onnx.TensorProto.EXTERNAL
        kept.external_data.add(key="location", value="STRIPPED")
        tensor.CopyFrom(kept)
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        del part.metadata_props[:]
        part.ClearField("doc_string")


def main(arguments: list[str]) -> None:
    """Export and strip each name."""
    folder = Path(__file__).parent
    define_operators()
    for name in arguments:
        path = export(name, folder)
        model = onnx.load(path)
        strip(model)
        data = model.SerializeToString(deterministic=True)
        (folder / f"{name}.struct.onnx.xz").write_bytes(lzma.compress(data, preset=9))
        for written in folder.glob(f"{name}.onnx*"):
            written.unlink()
        print(name, len(model.graph.node), "nodes", len(data), "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
