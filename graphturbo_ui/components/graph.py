"""The graph view: what its canvas is made of."""

from __future__ import annotations

from graphturbo_ui.components.sources import Canvas

TOOLS = """
    <button data-act="expand" title="open every sub-graph of both runs">Expand all</button>
    <button data-act="collapse" title="close every sub-graph of both runs">Collapse all</button>
    <button data-act="open" title="open or close the selected sub-graph (Enter, or a double click)"
      >Open / close</button>
    <button data-act="show" title="bring what is selected in sight (F)">Show selection</button>
    <label title="shapes of the tensors on the edges, where there is room for them">
      <input type="checkbox" data-act="shapes" checked> Shapes</label>
    <div class="searching"><input type="search" data-act="search" size="17" role="combobox"
           aria-controls="hits" aria-expanded="false" aria-autocomplete="list"
           placeholder="name, type, attribute"
           title="regular expression; Enter and Shift+Enter go from hit to hit"
           aria-label="find ops by name, type or attributes (regular expression)">
      <div class="found" id="hits" role="listbox" aria-label="ops that are found" hidden></div>
    </div>
    <button data-act="previous" aria-label="previous hit" title="previous hit (Shift+Enter)"
      >&#8593;</button>
    <button data-act="next" aria-label="next hit" title="next hit (Enter)">&#8595;</button>
    <span class="hits" aria-hidden="true"></span>
    <button data-act="keys" title="[ ] step, Enter opens, N P step through its ops, X other run,
F shows the selection, / searches, W A S D, arrows, + - and 0 move and zoom, Esc leaves"
      >Keys</button>"""
GRAPH = Canvas("graph", "Sub-graph view", TOOLS, "graph.js", ("graph.css",))
