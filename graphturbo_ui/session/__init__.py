"""What one visitor has chosen, uploaded and selected, and the link that restores it.

- `query.py`: fields of the address, their defaults, and what is wrong with a value.
- `store.py`: uploaded files by their sha256, for an hour.
- `run_state.py`: the part of one run, `a` or `b`: strategy, options, plan.
- `drafts.py`: edits made from the graph, until they are run or undone.
- `selection.py`: what is selected, one value for browser, session and link.
- `choices.py`: the top bar as one frozen value: two requests, link, command line.
- `state.py`: the session; other modules do not touch Streamlit's session state.
"""
