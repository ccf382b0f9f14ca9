"""Report -> bytes that a canvas draws: a JSON header, then raw arrays.

- `canvas.py`: the layout of such a buffer.
- `resources.py`: names of the critical path's resources.
- `graph_canvas.py`: the op graph.
- `gantt_canvas.py`: instructions by engine.
- `address_canvas.py`: occupancy over time and every listed buffer.
"""
