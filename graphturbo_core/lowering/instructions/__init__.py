"""One kernel's instructions as a table, their conflicts, and their order.

- `local_buffers.py`: buffers of one kernel: collected one by one, then as columns.
- `machine.py`: Machine: engines, channels, and the route of each transfer.
- `transfers.py`: cycles of moves on channels, again at other bandwidths.
- `code.py`: KernelCode: instructions without global numbers.
- `weight_causes.py`: which weight moves refetch a box.
- `conflicts.py`: earlier instructions that each one must wait for, found by sweeps.
- `schedule.py`: instruction scheduling at `:full`: list scheduler, then backward and forward
  passes. The order whose kernel is shortest, run alone, is chosen.

The event loop is that of `timing/`.

Conflicts are found in layer order. They have the same direction in every later order. The cost of
list scheduler and event loop is about linear in the instructions of a kernel.
"""
