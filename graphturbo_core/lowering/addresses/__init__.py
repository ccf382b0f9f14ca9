"""Buffers with lifetimes -> byte addresses, so that live ones never share a byte."""
