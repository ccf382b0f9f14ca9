"""The best schedule that a search finds among those that `graphturbo` could have chosen."""
