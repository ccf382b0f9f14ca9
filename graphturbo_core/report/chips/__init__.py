"""A chip -> its parts with every number and source, derived figures, and a comparison of two.

- `chip_parts.py`: chip, clusters, cores, engines, LB, GB, DRAM and links, each with its numbers.
- `chip_view.py`: all of these of one chip, and the sizes that a picture draws to scale.
- `derived.py`: peak, bytes on the chip, balance, with the arithmetic and the keys it reads.
- `chip_text.py`: two chips in one sentence; the ratio of two numbers.
"""
