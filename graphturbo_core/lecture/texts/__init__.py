"""The eight steps in words, in the lecture's order; numbers are fields.

- `traffic.py`: what fine kernels move over DRAM.
- `pieces.py`: how Algorithm 1 chooses the number of pieces.
- `groups.py`: which layers Algorithm 2 merges.
- `order.py`: in which order Algorithm 3 runs the pieces.
- `places.py`: where results wait, and on which cores.
- `borders.py`: what borders between pieces cost.
- `overlap.py`: what overlapping layers save.
- `limits.py`: where coarse loses.
"""
