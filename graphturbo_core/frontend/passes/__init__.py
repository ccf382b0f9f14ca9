"""Graph -> Graph: the clean-up passes, each of which can be skipped."""
