"""Stage -> tiling: cuts of a core's share, and the needs of each tile.

- `tiling.py`: Tiling, Tile, and the order in which tiles run.
- `array_passes.py`: cuts along squares of a map, if a pass of the array covers a square.
- `tile_sizes.py`: bytes of the largest tiles, without listing tiles.
- `tile_space.py`: room of a stage's tiles, and memories of its operands.
- `expected_places.py`: memories of operands by the plan, before GB is divided.
- `weight_space.py`: division of LB's weight part; weights that come whole.
- `loop_order.py`: cost of a tiling: cycles of the matrix engine and of memory ports.
- `cutting.py`: granularity of a share's cuts for the given room.
- `stage_cuts.py`: tilings by room, memoised while a kernel's placement is retried.
- `stage_memo.py`: tilings and tiles memoised by equivalent stages.
- `weight_items.py`: fetch step of each part of a streamed weight, and its receivers.
- `staging.py`: staging slots for values between the ops of a loop nest.

With rows outermost, each row tile refetches the weights. With weights outermost, each column tile
refetches streamed data. The order of lower cost is used. Between equal ones it is rows outermost if
data are streamed. If K is cut, weights outermost need room for the partial sums of all rows.

If a weight slot is smaller than all of K, tiles go through K in cuts. Streamed data would then be
refetched per column tile. They are fetched with all of K instead, if that costs less
(`Tiling.is_data_whole`). Fewer rows then fit a tile. Or weight tiles get more columns and less of K
each, so that data are refetched for fewer tiles of columns: of twice the columns, four times, and
so on, what costs least is used.
"""
