"""Stage -> tiling: how a core's share is cut, and what each tile needs.

- `tiling.py`: Tiling, Tile, and the order in which tiles run.
- `array_passes.py`: cuts along squares of a map, where a pass of the array takes a square.
- `tile_sizes.py`: bytes of the largest tiles, without listing tiles.
- `weight_space.py`: division of LB's weight part; weights that come whole.
- `cutting.py`: how finely a share is cut for the room there is.
- `stage_cuts.py`: tilings by room, memoised while a kernel's placement is retried.
- `alike.py`: tilings and tiles memoised by equivalent stages.
- `weight_items.py`: when each part of a streamed weight is fetched, and for which cores.
- `staging.py`: staging slots for values between the ops of a loop nest.

If a weight slot holds less than all of K, tiles go through K in cuts. Streamed data would then be
refetched per column tile. They are fetched with all of K instead, where that moves fewer bytes
(`Tiling.is_data_whole`). Fewer rows then fit a tile, and each row tile fetches the weights.
"""
