"""Steps that strategies share: sections and their order -> Plan.

- `batching.py`: Division: which clusters run which rounds of the batch.
- `model_layers.py`: units of a plan's graph to layers of the model.
- `whole.py`: layers or ops as unsplit sections, for strategies without splitting.
- `instances.py`: sections and splits to Instances: boxes that each kernel computes and needs.
- `outermost.py`: a binding along the outermost axis alone.
- `kernels.py`: Target, and instances bound to cores (Algorithm 4).
- `handing.py`: bindings handed from kernel to kernel (`graphturbo.binding_of=instances`).
- `redistribution.py`: core numbers for a kernel, so that most bytes are there already.
- `residency.py`: per weight: resident in LB or GB, sharded, or streamed.
- `turns.py`, `legal.py`: who runs each instance of a record, and what can be carried out.
- `assemble.py`: the recipe: bind, place, number, and build the Plan.

Where a chip shards weights (`ipu-gc2`), `residency.py` picks weights that several kernels of a
round read, most refetched bytes first. It stops at half of all weight parts from a weight's first
kernel to its last. Shards get bytes at the end of every LB's weight part (`Plan.shard_bytes`): at
most half of it.
"""
