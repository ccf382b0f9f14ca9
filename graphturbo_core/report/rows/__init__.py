"""Outcome -> flat rows and arrays for pages, charts and JSON, one file per table.

- `run_rows.py`: engines, kernels, decisions, order, bindings, stalls, ledger, chip.
- `group_rows.py`, `split_rows.py`: groups with the reasons of merges; Algorithm 1's quadruples.
- `memory.py`, `layer_rows.py`: occupancy, computed once; layers with memory, time and work.
- `buffer_rows.py`: buffers of LB and GB: place, lifetime, reused bytes.
- `graph_rows.py`, `layout.py`: the op graph and the places of its nodes.
- `produced_rows.py`: tensor and box that each instruction produces.
- `overlap_rows.py`, `roof_rows.py`: overlap of layers; roofs of the roofline.
- `halo.py`, `traffic.py`: repeated multiply-accumulates; bytes and stalls of the batch.
- `verify_rows.py`, `assumed_rules.py`: the verification; rules that the register lists.
- `partition/`: stages of the model, parts that kernels compute, reasons of merges as numbers.

Rows and arrays describe the largest share's first round on one cluster.
"""
