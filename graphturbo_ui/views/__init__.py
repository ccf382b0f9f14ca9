"""The views of Explore: one file each, drawn from the runs at hand."""
