"""Event loop over engines and channels, for lowering and for the simulator.

- `queues.py`: queues of engines and channels in the order of issue.
- `events.py`: the compiled event loop, and the greedy estimate that the list scheduler uses.
- `csr.py`: CSR tables of rows per instruction: joined in an order, transposed.

Lowering and simulator use the same event loop. So the cycles that the scheduler computes for a
kernel run alone are those that the simulator computes.
"""
