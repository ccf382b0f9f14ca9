"""Steps that strategies share: sections and their order -> Plan.

- `batching.py`: Division: which clusters run which rounds of the batch.
- `whole.py`: layers or ops as unsplit sections, for strategies without splitting.
- `instances.py`: sections and splits to Instances: boxes that each kernel computes and needs.
- `splitting.py`: Algorithm 1: axis and piece count that fit the cores.
- `axes.py`: how well each axis of a result is cut over cores.
- `binding.py`: Algorithm 4: which core computes which part of each tensor.
- `kernels.py`: Target, and instances bound to cores (Algorithm 4).
- `handing.py`: bindings handed from kernel to kernel (`graphturbo.binding_of=instances`).
- `redistribution.py`: core numbers for a kernel that need the fewest moves.
- `placement.py`: memory of outputs: LB for the next instance, else GB, else DRAM.
- `residency.py`: per weight: resident in LB or GB, sharded, or streamed.
- `legal.py`: what lowering can carry out.
- `branch_kernels.py`: sections on parts of the cores, as kernels with branches.
- `assemble.py`: the recipe: bind, place, number, and build the Plan.

Ops of an engine that cores share are bound to the cluster; their tensors are never resident in LB.

Where a chip shards weights (`ipu-gc2`), `residency.py` picks weights that several kernels of a
round read, most refetched bytes first. It stops at half of all weight parts from a weight's first
kernel to its last. Shards get bytes at the end of every LB's weight part (`Plan.shard_bytes`): at
most half of it.
"""
