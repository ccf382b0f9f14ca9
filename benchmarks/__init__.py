"""Commands that measure the figures of README and docs."""
