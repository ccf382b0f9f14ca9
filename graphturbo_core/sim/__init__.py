"""Program -> Trace: discrete events in integer cycles, and measurements of both.

- `trace.py`: Trace: start and end per instruction, and what it waited for.
- `simulate.py`: the simulation. `checks/` verifies Program and Trace, `kernels/` bounds kernels.
- `stalls.py`: per engine, the reason of every cycle that it is not busy.
- `bookings.py`, `ledger.py`: every byte over DRAM and GB with its cause; the sums.
- `lifetimes.py`, `occupancy.py`: live cycles per buffer; live bytes of LB and GB over time and per
  layer.
- `layers_in_flight.py`, `overlap.py`: layers that run at the same time, in the cluster and within
  one core.
- `critical_path.py`: from the last cycle back, what each cycle waited for.
- `longest_chain.py`: the longest dependency chain, a lower bound.
- `sweeps.py`: compiled sweeps over sorted events.

The simulator adds no rule of its own: engines are queues in sequence order, a move needs all its
channels, conflicts and segments do the rest.

A class's move holds its engine until all of its cores are through the shared port. Busy cycles
count what each core's move takes alone.
"""
