"""Paths of weights to LBs, one file per path.

In: a stage's weight items (of `tiling`), and `KernelEnvironment` (of `global_buffer`): places of
tensors outside the kernel's LBs. Out: prefetches, broadcasts and loads, emitted by the mover.

A box takes two legs. `WeightSource.bring` moves it to the memory from which LBs are filled, and
returns the buffer. `WeightSource.deliver` fills the LBs of the cores that need it.

- `source.py`: the two legs; by default the second is one broadcast per box
- `gb_streamed.py`: DRAM -> a slot of the ring in GB, for one item
- `gb_resident.py`: DRAM -> the tensor's own place in GB, once
- `gb_retained.py`: DRAM -> GB for several kernels, by the first of them or further ahead
- `gb_whole.py`: DRAM -> a small region of GB, for weights loaded whole
- `lb_shards.py`: without a GB: DRAM -> one LB, from there to the others; or DRAM -> LBs
- `own_fetch.py`: DRAM -> LB, once per core
- `dram_shares.py`: the DRAM share of the next weight fetch
- `lb_places.py`: offset of an item in an LB's weight part
- `chosen.py`: the path of each tensor of a stage
- `feeder.py`: a kernel's fetches in the order of its steps, one tile ahead

A retained weight's box is fetched once. If the first kernel of the retention does not read the
weight, it prefetches the box after its own work. Else the first reader fetches it. A kernel's
barrier waits for its prefetches.
"""
