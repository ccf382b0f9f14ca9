"""Report -> the bytes that each canvas draws: a JSON header in front of raw arrays."""
