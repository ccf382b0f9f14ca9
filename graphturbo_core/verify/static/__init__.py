"""What of a Program can be checked without numbers: its claims, causes, coverage and halos."""
