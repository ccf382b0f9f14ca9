"""The first screen as one component: what `report/overview` gives, drawn by the scripts here.

- `overview.html`, `overview.css`: its frame and style; `page.css`, `presenting.css`: of the page.
- `words.js`: numbers as text. `runs.js`, `bins.js`, `rows.js`: pure functions from the buffer to
  what is drawn. `lens_words.js`: what the lens shows first, in words. `draw.js`: elements by hand.
- `race.js`, `layers_panel.js`, `memory_columns.js`, `labels.js`, `time_panel.js`, `inspector.js`,
  `play.js`: its parts.
- `overview.js`: state, pointer and keys.

The scripts are ES modules, which `components/bundle.py` joins.
"""
