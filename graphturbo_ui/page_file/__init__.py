"""Two runs as one HTML file that needs nothing else: to store, to send, to open without the app.

`first_screen.py` puts the app's first screen at the top. `sections.py` uses the same figures,
tables and canvases as the page. `packing.py` packs buffers and Plotly. `document.py` fills the
template. `document.js` unpacks the buffers and draws.
"""
