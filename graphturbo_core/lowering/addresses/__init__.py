"""Buffers with lifetimes -> byte addresses; live buffers never share a byte.

- `allocator.py`: first fit in order of first use, for GB, DRAM and shards.
- `packing.py`: offsets in an LB, where all lifetimes are known: largest first.
"""
