"""Chips -> what the Chips page draws; all functions here are pure.

- `svg.py`: elements as escaped text.
- `scales.py`: scales that two pictures share, and shapes of a size.
- `core_level.py`, `memory_levels.py`: the levels of the hierarchy: one core; DRAM, clusters, GB.
- `picture.py`: the SVG of one chip.
- `scene.py`: pictures, figures, numbers and editor as JSON for the component.
"""
