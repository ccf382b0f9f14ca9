"""Buffers with lifetimes -> byte addresses; live buffers never share a byte.

- `allocator.py`: first fit in order of first use, for GB, DRAM and shards.
- `packing.py`: offsets if all lifetimes are known: largest first in an LB, in a given order in GB.
"""
