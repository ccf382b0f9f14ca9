"""How instructions take engines and channels over time; lowering and simulator import it.

- `queues.py`: queues of engines and channels, in the order in which instructions are issued.
- `events.py`: the compiled event loop, and the list scheduler's greedy form of it.
- `csr.py`: tables of rows per instruction: joined in an order, transposed.

One event loop serves both: what the scheduler expects of a kernel is what the simulator finds.
"""
