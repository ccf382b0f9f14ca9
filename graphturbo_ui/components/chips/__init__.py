"""The Chips page as one component: what `figures/chips` gives, placed and edited by these scripts.

- `chips.html`, `chips.css`: its frame and style; `page.css`, `presenting.css`: of the page.
- `chips.js`: state, heads and pictures. `strip.js`: figures of both chips. `editor.js`: a field per
  number. `tip.js`: what a part shows when it is pointed at or has the focus.
"""
