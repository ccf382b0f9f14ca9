"""One kernel's instructions as a table, their conflicts, and their order.

- `local_buffers.py`: buffers of one kernel, collected and then as columns.
- `code.py`: KernelCode, Machine: instructions before global numbers; engines and channels.
- `csr.py`: tables of rows per instruction: joined in an order, transposed.
- `weight_causes.py`: which weight moves refetch what was fetched before.
- `conflicts.py`: earlier instructions that each one must wait for, by sweeps, never pairwise.
- `queues.py`, `events.py`: queues of engines and channels; the compiled event loop, shared with the
  simulator, and the list scheduler.
- `schedule.py`: instruction scheduling at `:full`: list scheduler, then backward and forward
  passes. The order of the shortest kernel, run alone, is taken.

Conflicts are found in layer order and keep their direction under every order. List scheduler and
event loop grow about linearly with a kernel.
"""
