"""What the pictures of Algorithms 1 to 4 draw, derived from a report's tables.

- `splits.py`: Algorithm 1: each sub-graph and layer with its pieces and bytes.
- `merges.py`: Algorithm 2: merges and refusals in order, as layers that become parts.
- `orders.py`: Algorithm 3: what enters the ready list and what runs, with the bytes in GB.
- `binds.py`: Algorithm 4: of each kernel which core computes which part of a tensor.
- `buffer.py`: all four of one run or two as one buffer for the page.
"""
