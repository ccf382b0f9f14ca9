"""What the layers of a model are, and what connects them.

All strategies and reports share these layers: a kernel is made of them, or of the ops inside.

- `relay.py`: TVM Relay's operator fusion: ops to layers.
- `layer_graph.py`: layers, the tensors between them, and how axes carry over.
- `carry.py`: position of one axis of a result in each tensor of a sub-graph.
- `model_layers.py`: units of a plan's graph to layers of the undecomposed model.
"""
