"""The plan diff: two runs' groupings over one graph, with what differs in each layer.

- `plan_diff.html`, `plan_diff.css`: the frame and its style.
- `plan_diff.js`: the state: toggle, folds, what is pointed at and selected, keys.
- `diff_panel.js`: the picture, by `overview/groupings_panel.js`.
- `diff_rows.js`: layers to rows; no page.
- `sides_table.js`: both sides of one layer as a table.
"""
