"""Pictures of Algorithms 1 to 4, one component; its scripts in the order of what they draw.

- `algorithms.html`, `algorithms.css`, `algorithms.js`: frame, style, state; one of four panels.
- `splits.js`, `split_panel.js`: Algorithm 1: sub-graphs and layers cut into pieces.
- `merge_tree.js`, `merge_panel.js`, `merge_words.js`: Algorithm 2: a tree that grows by merges.
- `order_steps.js`, `order_panel.js`, `gb_curve.js`: Algorithm 3: the ready list, bytes in GB.
- `bindings.js`, `bind_panel.js`: Algorithm 4: cores with the part that each computes.
- `clock.js`: Play.
"""
