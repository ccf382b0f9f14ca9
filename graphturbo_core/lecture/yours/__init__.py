"""The lecture's steps on another model and chip: reports -> what their pictures show.

- `traffic.py`: step 1, bytes over DRAM of runs of kernels by cause.
- `cutting.py`: step 2, the sub-graph that is cut into the most pieces, and the counts tried.
- `waiting.py`: step 4, what waits in GB while kernels run, in two orders.
"""
