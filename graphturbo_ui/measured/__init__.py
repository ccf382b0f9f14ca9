"""Measured times of layers beside the simulated ones, on Explore below *Why*.

- `figures.py`: a dot per layer on axes of equal shares; what each stands for; the table.
- `view.py`: uploader, template, sentences, figure and table.

The session keeps the last file that could be read; the address names it. Nothing is drawn while
the box is closed; it begins open where a link names a file.
"""
