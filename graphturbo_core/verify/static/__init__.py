"""Program -> faults found without numbers: its fields against its accesses and the plan.

- `claim_rows.py`, `ports.py`: rows and accesses to check; numbers of engines and channels.
- `claims.py`: sizes, engines and costs of instructions.
- `channel_claims.py`: channels, holds and latencies.
- `lookups.py`: buffers with rows that a lookup fetched from a table.
- `coverage.py`: every element is computed once and moved once.
- `causes.py`: every byte over DRAM or GB is booked to its cause.
- `halo_bytes.py`: halo bytes equal what the plan's pieces imply, without lowering's stages.
"""
