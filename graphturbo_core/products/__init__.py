"""What steps hand each other, each with `check()`. Program, and what is read off it alone.

Plan is in `strategies/plan.py`, Trace in `sim/trace.py`.
"""
