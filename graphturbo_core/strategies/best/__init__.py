"""`best`: the fastest schedule that is found, cluster batch included.

- `strategy.py`: the strategy, its options, and what it compares cluster batches by.
- `uniform.py`: uniform groupings: layers, or runs of blocks, all with as many samples per piece.
- `search.py`: the proposals of `graphturbo:plus`, uniform groupings, and their crossovers.
"""
