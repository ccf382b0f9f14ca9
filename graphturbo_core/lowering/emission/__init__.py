"""KernelPlacement -> KernelCode: loads, computes and stores, layer by layer.

Weights are fetched by `weight_sources/`.

- `costs.py`: engine, cycles and work of a compute, memoised by kind of tile; depthwise tiles on
  both engines of a core.
- `mover.py`: DMA emission: the engine, channels and cause of a move.
- `loads.py`: activations of a stage: whole in chunks, streamed by tile, or exchanged.
- `emit.py`: the recipe: all instructions of one kernel.
- `setting.py`: Setting: the placement and environment that a kernel's code follows from.
- `template.py`: `template_key` of a setting; kernels with equal keys have one template.
- `copies.py`: code of a template, copied for another kernel of its key.

A template's key must contain everything that emission reads. Copies get other names, shifted boxes
and other shared buffers.

With one tile buffer per operand (`Feeding.tiles`), a tile's moves follow the computes that read the
tile before. Conflicts over the bytes enforce the wait; no further rule exists.
"""
