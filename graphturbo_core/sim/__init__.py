"""Program -> Trace: discrete events in integer cycles, and measurements of both.

- `trace.py`: Trace: start and end per instruction, and what it waited for.
- `simulate.py`: the simulation. `checks/` verifies Program and Trace, `kernels/` bounds kernels.
- `stalls.py`: per engine, the reason of every cycle in which it is not busy. `data_sources.py`:
  where the data come from that it waits for.
- `bookings.py`, `ledger.py`: every byte over DRAM and GB with its cause; the sums.
- `lifetimes.py`, `occupancy.py`: live cycles per buffer; live bytes of LB and GB over time and per
  layer.
- `layers_in_flight.py`, `overlap.py`: layers that run at the same time, in the cluster and within
  one core.
- `critical_path.py`: from the last cycle back, what each cycle waited for.
- `longest_chain.py`: the longest dependency chain, a lower bound.
- `sweeps.py`: compiled sweeps over sorted events.

The simulator has four rules: engines are queues in sequence order; a move needs all its channels at
once; an instruction waits for its conflicts; a segment waits for the segment before it.

A move of a class of equivalent cores occupies its engine until the transfers of all these cores
have passed the shared port. Busy cycles count the transfer of one core.
"""
