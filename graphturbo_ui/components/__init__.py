"""Canvas components: one script each, and its Python side."""
