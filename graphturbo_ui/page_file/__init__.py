"""Two runs as one HTML file that needs nothing else: to store, to send, to open without the app.

`document.py` uses the same figures, tables and canvases as the page. `document.js` hands each
canvas its buffer, unpacked, as Streamlit does. Canvases still inform each other, but not Python.
The Content-Security-Policy allows no address. The template escapes every name.
"""
