"""KernelPlacements -> places in GB and DRAM: boxes, addresses, lifetimes.

- `sites.py`: sites of a kernel's tensors outside its LBs.
- `rings.py`: slots of GB for streamed weights; branches of a kernel have slots of their own.
- `dram.py`: DRAM addresses, and remote inputs in cluster-parallel plans.
- `neighbours.py`: weights that adjacent instances of a group share in GB. If not all fit, the
  shared boxes are spread evenly over the fetches.
- `stays.py`: retained weights, box by box in fetch order, from GB's end downwards.
- `inputs.py`: inputs of the model in GB, for the kernel after the one that fetches them.
- `shards.py`: the LB of each box of a sharded weight.
- `gb_places.py`: outputs in GB: in order of production, packed, or in turn within a kernel.
- `far_memory.py`: the recipe: slots at GB's bottom, then outputs, then weights.
- `fixed.py`: checks the places that a plan file fixes, or refuses the plan.

A result without room in LB that its kernel reads back is stored with its halo. A retained weight
without room is streamed. At `:full`, weights that one layer of one kernel reads are streamed
through all free GB, up to its size ahead (`GbRing.ahead_bytes`), unless row tiles would refetch
them. Then one DMA engine prefetches and the other writes back.

Shards: each box that is fetched more than once goes to the needing core with the fewest shard
bytes. The first kernel fetches it from DRAM into that LB. Later fetches are one move out of that
core's link to all others. The core itself reads it in place. A box without room is streamed from
DRAM each time, with a note. Boxes that another kernel cuts differently are separate shards.

Ops of an engine that cores share (`goya`) find operands and leave results in GB. DRAM data pass
through tile buffers in GB, moved by system DMA. A compute occupies GB's port for its boxes' bytes.
`passing_ops` are placed the same way on every chip: core 0's engine reads and writes GB or DRAM,
and its LB's port is occupied too.
"""
