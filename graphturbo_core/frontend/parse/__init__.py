"""Bytes -> Draft: a model read from its file and checked, without inferred shapes.

- `parsing.py`: bytes to ModelProto; binary protobuf, from memory only.
- `functions.py`: expands calls of functions that the file defines.
- `dimensions.py`, `proposals.py`: symbolic dimensions, their sizes, and sizes that the file
  proposes.
- `recorded.py`: shapes that the file records, for ops that no schema describes.
- `reader.py`: ModelProto to Draft: names, order, weights, bound inputs.
- `structure.py`: undefined inputs, values written twice, cycles.
- `attributes.py`, `element_types.py`, `tensors.py`: conversions of attributes, types and tensors.
- `draft.py`: the Draft.
- `schemas.py`: operator sets of a model, and the ops that they describe.
- `unsupported.py`: one refusal with all ops that import cannot type.
"""
