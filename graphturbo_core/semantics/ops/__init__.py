"""What each op reads, computes and costs: one file per family of ops.

`semantics/table.py` lists them by op type. The families share `view`, `maps` and `windows`.
"""
