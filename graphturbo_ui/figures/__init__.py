"""Rows of Reports -> figures and tables: pure functions without Streamlit.

- `canvases.py`, `instructions.py`, `buffers.py`: bytes, rows and summaries of the canvases.
- `group_tables.py`, `layer_tables.py`, `pass_tables.py`, `tables.py`: rows of tables, capped, names
  made safe.
- `memory.py`: LB and GB per layer with capacity lines.
- `accounting.py`: stalls, critical path, ledger and busy cycles as stacked bars. `bound_steps.py`:
  what separates a run from its lower bound. `cluster_batches.py`: cluster batches that a search
  compared.
- `roofline.py`: layers under the chip's roofs. `legend.py`: a figure's legend as HTML.
- `chips/`: two chips as hierarchies on equal scales.
"""
