"""The Gantt chart: what its canvas is made of."""

from __future__ import annotations

from graphturbo_ui.components.sources import Canvas

TOOLS = """
    <label>Colour by
      <select data-act="colour" aria-label="colour by">
        <option value="layer">layer</option><option value="group">sub-graph</option>
        <option value="kind">kind</option><option value="wait">what it waited for</option>
      </select></label>
    <label>Rows
      <select data-act="rows" aria-label="rows" title="automatic: engines, above 64 rows kinds">
        <option value="auto">automatic</option><option value="engines">one an engine</option>
        <option value="cores">one a core</option><option value="kinds">one an engine kind</option>
      </select></label>
    <label class="lock"><input type="checkbox" data-act="lock" checked> Same time axis</label>
    <label title="K">Path
      <select data-act="path" aria-label="path">
        <option value="none">none</option><option value="critical">critical path</option>
        <option value="chain">longest dependency chain</option>
      </select></label>
    <button data-act="measure" title="measure what is in sight (M); Shift + drag measures a span"
      >Measure</button>
    <button data-act="previous" aria-label="previous selected instruction"
      title="previous selected instruction (P)">◀</button>
    <button data-act="next" aria-label="next selected instruction"
      title="next selected instruction (N)">▶</button>"""
GANTT = Canvas("gantt", "Gantt chart", TOOLS, "gantt.js", ("gantt.css",))
