"""Reports -> words: which of two runs is faster, and why; tables for a terminal."""
