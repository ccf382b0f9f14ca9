"""The first screen as one component: what `report/overview` gives, drawn by the scripts here.

- `overview.html`, `overview.css`: its frame and style; `page.css`, `presenting.css`: of the page.
- `words.js`: numbers as text. `runs.js`, `bins.js`, `rows.js`: pure functions from the buffer to
  what is drawn. `lens_words.js`: what the lens shows first, in words. `draw.js`: elements by hand.
- `race.js`, `layers_panel.js`, `layers_overlay.js`, `memory_columns.js`, `labels.js`,
  `time_panel.js`, `time_gutter.js`, `time_marks.js`, `inspector.js`, `dock.js`, `play.js`: parts.
- `keys.js`, `time_pointer.js`: keys of the whole page, and the pointer in the right card.
  `printing.js`: the page on paper.
- `views_below.js`: what leads to a view below. `overview.js`: state, and what acts on it.

The scripts are ES modules, which `components/bundle.py` joins.
"""
