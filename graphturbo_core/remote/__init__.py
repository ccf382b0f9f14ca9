"""remote: see ARCHITECTURE.md for its place among the steps."""
