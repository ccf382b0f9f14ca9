"""The ways in which weights come to LBs, one file per way.

In: a stage's weight items (of `tiling`), and `KernelEnvironment` (of `global_buffer`): where a
kernel finds what lies outside its LBs. Out: prefetches, broadcasts and loads, written by the mover.

A box takes two legs. `WeightSource.bring` makes it lie where LBs are filled from, and gives the
buffer; `WeightSource.deliver` fills the LBs of the cores that need it.

- `source.py`: the two legs; by default the second is one broadcast per box
- `gb_streamed.py`: DRAM -> a slot of the ring in GB, for one item
- `gb_resident.py`: DRAM -> the tensor's own place in GB, once
- `gb_retained.py`: DRAM -> GB for several kernels, by the first of them or further ahead
- `gb_whole.py`: DRAM -> a small region of GB, for weights that come whole
- `lb_shards.py`: without a GB: DRAM -> one LB, from there to the others; or DRAM -> LBs
- `own_fetch.py`: DRAM -> LB, once per core
- `dram_shares.py`: in whose DRAM the next fetch finds a weight
- `lb_places.py`: at which offset of an LB's weight part an item lies
- `chosen.py`: which of these a tensor of a stage takes
- `feeder.py`: a kernel's fetches in the order of its steps, one tile ahead

A retained weight's box is fetched once. If the first kernel of the retention does not read the
weight, it prefetches the box behind its own work. Else the first reader fetches it. A kernel's
barrier waits for its prefetches.
"""
