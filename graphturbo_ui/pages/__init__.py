"""Pages: they read choices, ask for runs, and show them.

- `explore.py`: one model, one chip, two runs side by side; its views are in `graphturbo_ui/views`.
- `verification.py`: what a replay checked of the two runs, and the result.

`frame.framed` wraps each page; `graphturbo_ui/server/script.py` lists them.
"""
