"""What steps hand each other, each with `check()`: Plan and Program, and what is read off them.

Trace is in `sim/trace.py`.
"""
