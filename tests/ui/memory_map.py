"""The memory map in the browser: its role, the component alone, a pixel."""

from __future__ import annotations

from graphturbo_ui.components.addresses import ADDRESSES

MAP = ADDRESSES.role
ALONE = """async ([script, html, numbers]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  document.body.innerHTML = html;
  show({ data: new Uint8Array(numbers), parentElement: document.body, setStateValue: () => {} });
}"""

PIXEL = """(canvas, [x, y]) => {
  const scale = canvas.width / canvas.clientWidth;
  const at = [x, y].map((place) => Math.round(place * scale));
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
}"""
