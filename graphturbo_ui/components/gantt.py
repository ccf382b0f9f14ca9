"""The Gantt chart: what its canvas is made of."""

from __future__ import annotations

from graphturbo_ui.components.sources import Canvas

TOOLS = """
    <label>colour by
      <select data-act="colour" aria-label="colour by">
        <option value="layer">layer</option><option value="group">sub-graph</option>
        <option value="kind">kind</option><option value="wait">what it waited for</option>
      </select></label>
    <label>rows
      <select data-act="rows" aria-label="rows" title="automatic: engines, above 64 rows kinds">
        <option value="auto">automatic</option><option value="engines">one an engine</option>
        <option value="cores">one a core</option><option value="kinds">one an engine kind</option>
      </select></label>
    <label class="lock"><input type="checkbox" data-act="lock" checked> same time axis</label>
    <label title="K">path
      <select data-act="path" aria-label="path">
        <option value="none">none</option><option value="critical">critical path</option>
        <option value="chain">longest dependency chain</option>
      </select></label>
    <button data-act="measure" title="measure what is in sight (M); Shift + drag measures a span"
      >measure</button>
    <button data-act="previous" aria-label="previous selected instruction"
      title="previous selected instruction (P)">◀</button>
    <button data-act="next" aria-label="next selected instruction"
      title="next selected instruction (N)">▶</button>"""
GANTT = Canvas("gantt", "Gantt chart", TOOLS, "gantt.js", ("gantt.css",))
