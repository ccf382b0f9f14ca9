"""Bytes -> Draft: a model as its file has it, read and checked, without inferred shapes.

- `parsing.py`: bytes to ModelProto; binary protobuf, from memory only.
- `functions.py`: calls of functions that the file defines are expanded.
- `dimensions.py`, `proposals.py`: symbolic dimensions, their sizes, and sizes that the file
  proposes.
- `recorded.py`: shapes that the file records, for ops that no schema describes.
- `reader.py`: ModelProto to Draft: names, order, weights, bound inputs.
- `structure.py`: undefined inputs, values written twice, cycles.
- `attributes.py`, `element_types.py`, `tensors.py`: conversions of attributes, types and tensors.
- `draft.py`: the Draft.
- `schemas.py`: operator sets of a model, and the ops that they describe.
- `unsupported.py`: one refusal that names all ops which import cannot type.
"""
