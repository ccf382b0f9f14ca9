"""Draft -> types and values of every tensor, op by op."""
