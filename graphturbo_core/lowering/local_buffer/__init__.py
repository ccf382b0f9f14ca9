"""Stages of a kernel -> KernelPlacement: LB addresses of its tensors; the rest streams.

- `weight_part.py`: division of LB's weight part between resident weights and slots.
- `rings.py`: tile buffers of streamed tensors.
- `placement.py`: KernelPlacement: tensors resident in LB with their offsets, tiles, spills.
- `giving_up.py`: which tensors a kernel streams or spills where some find no room.
- `place_kernel.py`: a PlacementTask -> its KernelPlacement, with as many residents as fit.
- `places.py`: placements memoised for kernels that differ only by names.

A tensor has the same offset on every core. At `:full`, reused bytes wait for their last readers. So
buffers of stages that are expected to run at the same time get separate bytes, if there is room.

A core's computed part and read part of a tensor may be far apart (rows of all heads, one head of
all rows). One box around both may be most of the tensor. Then there are two places: the core's own
share, and the box it reads, into which its part is copied (`Resident.own`, instruction kind COPY).
A stage in which each core reads its own share alone reads it there (`Resident.direct`). Without a
GB there are two places too if tensors have no room otherwise; or the shares are all that is kept,
and cores get tiles of them from each other (`Resident.has_tile_exchange`).
An output that is resident in LB for the next kernel is treated the same way.
"""
