"""What the server runs: once before the first visitor, and for each visitor's session."""
