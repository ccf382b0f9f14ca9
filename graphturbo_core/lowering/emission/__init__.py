"""KernelPlacement -> KernelCode: fetches of weights, loads, computes, stores, layer by layer.

- `costs.py`: engine, cycles and work of a compute, computed once per kind of tile.
- `mover.py`: DMA emission: the engine, channels and cause of a move.
- `own_weights.py`: weights that each core fetches for itself.
- `weights.py`: weights of a stage: DRAM to GB once, broadcast to the LBs, slot by slot.
- `loads.py`: activations of a stage: whole in chunks, streamed by tile, or exchanged.
- `emit.py`: the recipe: all instructions of one kernel.
- `template.py`: `template_key`, and copies of a template.

A template's key must contain everything that emission reads. Copies get other names, shifted boxes
and other shared buffers.

A retained weight's box is fetched once. If the first kernel of the retention does not read the
weight, it prefetches the box behind its own work. Else the first reader fetches it. A kernel's
barrier waits for its prefetches.

With one tile buffer per operand (`Feeding.tiles`), a tile's moves follow the computes that read the
tile before. Conflicts over the bytes enforce the wait; no further rule exists. A core that stands
for others fetches its own weights in two moves, one for those that need their box first.
"""
