"""Entries of the op table: one file per family of ops.

An entry is a function from an OpView to OpSemantics. Each file has `ENTRIES`;
`semantics/entries.py` joins them. `linear/` has the families that multiply and accumulate.

- `view.py`, `maps.py`, `windows.py`: shared: an op with its shapes, common axis maps, sliding
  windows.
- `elementwise.py`: elementwise and broadcast ops.
- `pooling.py`, `reduction.py`, `normalisation.py`: windows, sums along axes, softmax and norms.
- `scans.py`: running sums, top k, reversal, triangles along one axis.
- `shaping.py`, `selection.py`: new shape or order; join, cut out, pad.
- `indexing.py`, `resampling.py`: indices that are data; reads between an image's elements.
- `spectral.py`, `losses.py`: Fourier transforms; the two losses.
- `own_ops.py`: computation of the ops of our own domain, for the replay.
"""
