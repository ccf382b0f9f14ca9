"""Kernel and addresses -> instructions: computes, loads, stores, exchanges, weights."""
