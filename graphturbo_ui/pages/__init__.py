"""Pages: they read choices, call, and show."""
