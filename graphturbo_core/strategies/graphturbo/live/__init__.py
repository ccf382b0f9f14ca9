"""Layers -> split of a sub-graph that grows at its end, updated layer by layer.

- `live_bytes.py`: live bytes per step in a tree, and their peak.
- `live_spans.py`: the peak of live bytes while layers are added.
- `growing.py`: the split (axis, pieces); recomputed where axis or count may change.

Recomputing the split for each added layer would be quadratic in the layers.
"""
