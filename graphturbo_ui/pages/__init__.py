"""Pages: they read choices, ask for runs, and show them.

- `compare.py`: any number of runs; its parts are in `graphturbo_ui/compare`.
- `explore.py`: one model, one chip, two runs side by side; its views are in `graphturbo_ui/views`.
- `what_if.py`: numbers of the chip and the run over ranges; views in `graphturbo_ui/what_if`.
- `paper.py`: the published numbers beside ours; its parts are in `graphturbo_ui/paper`.
- `schedulers.py`: all strategies side by side; its parts are in `graphturbo_ui/schedulers`.
- `learn.py`: the lecture in steps; its data is made in `graphturbo_ui/learn`.
- `verification.py`: what a replay checked of the two runs, and the result.
- `chips.py`: two chips as drawn hierarchies; edits of one.

`frame.framed` wraps each page; `graphturbo_ui/server/script.py` lists them.
"""
