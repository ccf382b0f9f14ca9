"""Stage -> tiling: cuts of a core's share, and the needs of each tile.

- `tiling.py`: Tiling, Tile, and the order in which tiles run.
- `array_passes.py`: cuts along squares of a map, if a pass of the array covers a square.
- `tile_sizes.py`: bytes of the largest tiles, without listing tiles.
- `weight_space.py`: division of LB's weight part; weights that come whole.
- `cutting.py`: granularity of a share's cuts for the given room.
- `stage_cuts.py`: tilings by room, memoised while a kernel's placement is retried.
- `stage_memo.py`: tilings and tiles memoised by equivalent stages.
- `weight_items.py`: fetch step of each part of a streamed weight, and its receivers.
- `staging.py`: staging slots for values between the ops of a loop nest.

If a weight slot is smaller than all of K, tiles go through K in cuts. Streamed data would then be
refetched per column tile. They are fetched with all of K instead, if that moves fewer bytes
(`Tiling.is_data_whole`). Fewer rows then fit a tile, and each row tile refetches the weights.
"""
