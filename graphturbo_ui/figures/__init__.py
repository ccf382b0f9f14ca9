"""Rows -> figures: pure functions, no page in sight."""
