"""The top bar: every choice of the page, on every page, 56 px high.

- `bar.py`: the bar from left to right; all choices as one value.
- `labels.py`: what a closed popover shows: the present choice, and the chip's facts.
- `boxes.py`: contents of Model, Chip and Settings, with the uploads.
- `run_box.py`, `options_form.py`: contents of A and B: strategy, cluster batch, plan, options.
- `uploads.py`: which files are taken as model or chip, and their names in the boxes.
- `renewed.py`: boxes of popovers, new ones where the page sets their value.
- `presets.py`: contents of Batch besides the number: settings of both runs by one click.
- `page_parts.py`: what needs the browser: dropped files, keys, theme button, copy buttons.
- `bar.css`, `presenting.css`, `*.js`: style and scripts of these.

A popover's label is drawn before the widgets inside it, so labels read the session and the address.
A closed popover is not in the browser's page, but its widgets still run and keep their values.
Streamlit drops their names from the address when the page changes; `page.js` puts them back.
While somebody presents, the bar is hidden by a style: its widgets have to go on running.
"""
