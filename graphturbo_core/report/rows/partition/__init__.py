"""Rows that pictures of a partition are made of.

- `stages.py`: named stretches of layers (`stage 1`), from the ops' names, else from shapes.
- `pieces.py`: which part of its sub-graph each kernel computes.
- `compared_batches.py`: the cluster batches that a search compared, each with its bound.
- `otherwise.py`: layers in which the paper's method decides otherwise than a search.
- `raised.py`: sub-graphs in more pieces than Algorithm 1 needs, with the bytes that explain it.
- `reasons.py`: why sub-graphs were merged, and why no further, as numbers rather than sentences.
"""
