"""What one visitor has chosen, uploaded and selected, and the link that restores it."""
