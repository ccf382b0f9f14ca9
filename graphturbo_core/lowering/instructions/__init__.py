"""One kernel's instructions as a table, what they wait for, and in which order they run."""
