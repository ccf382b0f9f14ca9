"""Measured times of layers beside the simulated ones: read, matched, compared.

- `table.py`: bytes of a CSV file to rows; refuses by line. A template with a run's layers.
- `matching.py`: rows to the layers of a report, by the layer's name, then by an op's name.
- `comparison.py`: rank correlation, totals, and the layers whose shares differ most.
- `texts.py`: sentences and table rows of a comparison, for the app and the command line.

Nothing is fitted: shares are of the sums of the matched layers, so a constant factor between the
simulated and the measured machine has no effect on them.
"""
