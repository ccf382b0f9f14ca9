"""Graph, boxes and element types: the data that all other packages share.

- `dtypes.py`: element types in ONNX's spelling, and bytes per element on the chip.
- `boxes.py`: half-open intervals, one per axis, in the tensor's own coordinates.
- `weight_parts.py`: weights made of other weights, also without numbers yet: parts, joins.
- `graph.py`: Graph: ops in topological order, tensors with static shapes.

Tensors of the file's weights (kind WEIGHT) are distinct from activations. `Graph.undecomposed` is
the graph before passes that decompose or merge ops; `Op.origin` names the op that a part comes
from.
"""
