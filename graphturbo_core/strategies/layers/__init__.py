"""Layers of a model, and the tensors and axes that connect them.

All strategies and reports share these layers: a kernel consists of layers, or of their ops.

- `relay.py`: TVM Relay's operator fusion: ops to layers.
- `ranked_order.py`: a topological order by rank.
- `layer_graph.py`: layers, the tensors between them, and how axes carry over.
- `carry.py`: position of one axis of a result in each tensor of a sub-graph.
- `model_layers.py`: units of a plan's graph to layers of the undecomposed model.
"""
