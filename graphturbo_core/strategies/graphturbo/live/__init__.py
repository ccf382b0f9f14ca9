"""Peak bytes of a sub-graph that grows, layer by layer."""
