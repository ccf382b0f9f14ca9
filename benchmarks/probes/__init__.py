"""Quick runs whose figures enter the digests of kept results (`benchmarks.evidence`).

- `runs`: the runs, in sets: the strategies, `plus`, the options of `graphturbo`, `tuned`, and the
  vendor's plan file.
- `figures`: runs a set and returns its figures as text.

A rename does not change these figures. A change of a decision or cost does, if one of the runs
meets it.
"""
