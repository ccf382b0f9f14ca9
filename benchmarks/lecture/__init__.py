"""The lecture's results and printed pages, written from runs of the pipeline."""
