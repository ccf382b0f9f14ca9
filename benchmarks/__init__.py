"""What README claims, as commands."""
