"""Program -> bounds and loads of each kernel.

- `kernel_starts.py`: earliest start and remaining time of each instruction in its kernel, memoised
  for equivalent kernels.
- `kernel_bounds.py`: a lower bound over instruction orders of each kernel.
- `kernel_loads.py`: cycles of DRAM and cores, and GB use, for `plus.keeping`.
"""
