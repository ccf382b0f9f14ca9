"""Parts of the page about the paper: figures from rows, links to Explore, what the page draws.

- `figures.py`: published numbers beside ours; the effect of assumptions and options.
- `links.py`: the address of the runs behind a row, for Explore.
- `parts.py`: filters, the picture of all rows, the selected row.
- `below.py`: what moves the selected number, reasons, all rows as a table.
- `paper.css`, `presenting.css`: style of the page, and of it in front of an audience.
"""
