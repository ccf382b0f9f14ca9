"""Two runs as one HTML file that needs nothing else: to store, to send, to open without the app.

`sections.py` uses the same figures, tables and canvases as the page. `document.py` fills the
template with them. `document.js` hands each canvas its buffer
"""
