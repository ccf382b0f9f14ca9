"""Two runs as one HTML file that needs nothing else: to keep, to send, to open without the app."""
