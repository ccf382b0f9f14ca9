"""The address map: what its canvas is made of."""

from __future__ import annotations

from graphturbo_ui.components.sources import Canvas

TOOLS = """
    <label>Core <select data-act="core" aria-label="core of LB"></select></label>
    <label>Colour by
      <select data-act="colour" aria-label="colour buffers by">
        <option value="kind">what they hold</option><option value="layer">layer</option>
        <option value="group">sub-graph</option>
      </select></label>"""
ADDRESSES = Canvas("addresses", "Address map", TOOLS, "addresses.js")
