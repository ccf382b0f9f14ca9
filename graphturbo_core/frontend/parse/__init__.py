"""Bytes -> Draft: a model as its file says it, read and checked, without inferred shapes."""
