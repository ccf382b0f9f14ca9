"""One kernel's instructions as a table, their conflicts, and their order.

- `local_buffers.py`: buffers of one kernel, collected and then as columns.
- `machine.py`: Machine: engines, channels, and the route of each transfer.
- `code.py`: KernelCode: instructions before global numbers.
- `weight_causes.py`: which weight moves refetch what was fetched before.
- `conflicts.py`: earlier instructions that each one must wait for, by sweeps, never pairwise.
- `schedule.py`: instruction scheduling at `:full`: list scheduler, then backward and forward
  passes. The order of the shortest kernel, run alone, is taken.

The event loop is that of `timing/`.

Conflicts are found in layer order and keep their direction under every order. List scheduler and
event loop grow about linearly with a kernel.
"""
