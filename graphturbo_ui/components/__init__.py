"""Canvas components: one script each, and its Python side.

- `sources.py`: Canvas: tools, scripts and styles; buffers with a time. Only `draw` knows Streamlit.
- `graph.py`, `gantt.py`, `addresses.py`: the graph view, the Gantt chart, the address map.
- `bundle.py`: ES modules joined to one. `overview/`: the first screen. `algorithms/`:
  Algorithms 1 to 4. `chips/`: the Chips page. `learn/`: the lecture. `plan_diff/`: the plan diff of
  Compare. `colours.css`: what these five draw with.
- `link.py`: selection and time windows that canvases share among themselves and with the session.
"""
