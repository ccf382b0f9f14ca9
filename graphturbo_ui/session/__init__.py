"""What one visitor has chosen, uploaded and selected, and the link that restores it.

- `query.py`: fields of the address, their defaults, and what is wrong with a value.
- `run_state.py`: the part of one run, `a` or `b`: strategy, options, plan.
- `drafts.py`: edits made from the graph, until they are run or undone.
- `compared.py`: the comparison of the page Compare: runs, those still wanted, what is ticked.
- `compared_link.py`: the comparison in the address, by the digest of its file.
- `reopening.py`: runs of the comparison as A and B of the bar, or computed again.
- `plan_diff.py`: the two runs of the plan diff, and its toggle.
- `selection.py`: what is selected, one value for browser, session and link.
- `paper.py`: the selected row of the page about the paper, and its filters.
- `measured.py`: measured times of the last file, and its digest in the address.
- `learn.py`: the step of the lecture and the value of its control, in the address.
- `chips.py`: edits of a chip, and the chip beside it.
- `choices.py`: the top bar as one frozen value: two requests, link, command line.
- `what_if.py`: the part of the What-if page: its names in the address, runs in hand, the point.
- `state.py`: the session; other modules do not touch Streamlit's session state.
"""
