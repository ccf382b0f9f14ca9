// Draws the canvases and charts of a saved page, in the colours of the reader's system.

const scheme = matchMedia("(prefers-color-scheme: dark)");
const ON_DARK = JSON.parse(document.getElementById("on-dark").textContent);

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--st-${name}`).trim();
}

/** The bytes behind `name`. */
async function unpacked(name) {
  return bytesOf(document.getElementById(`data-${name}`).textContent);
}

/** The bytes of a text: gzip as base64. */
async function bytesOf(text) {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Load Plotly, a classic script that sets a global. */
async function loadPlotly() {
  const url = URL.createObjectURL(new Blob([await unpacked("plotly")], { type: "text/javascript" }));
  const script = document.createElement("script");
  await new Promise((done, fail) => {
    Object.assign(script, { src: url, onload: done, onerror: fail });
    document.head.append(script);
  });
  URL.revokeObjectURL(url);
}

/** Gives what draws the component `name` in `parentElement`: the app's own script and its buffer. */
async function component(name, parentElement) {
  const source = document.getElementById(`script-${name}`).textContent;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: draw } = await import(url);
  URL.revokeObjectURL(url);
  const data = await unpacked(name);
  return () => draw({ data, parentElement, setStateValue: () => {} });
}

/** A colour of a chart, or several, on the reader's ground. */
function onGround(own) {
  if (Array.isArray(own)) return own.map(onGround);
  const isDark = scheme.matches && !document.documentElement.dataset.printed;
  return isDark ? ON_DARK[own] ?? own : own;
}

/** Draw a chart, or draw it again in the present colours. */
function drawChart(place) {
  const { data, layout } = figures.get(place);
  const traces = data.map((trace) => (
    trace.marker?.color ? { ...trace, marker: { ...trace.marker, color: onGround(trace.marker.color) } } : trace
  ));
  const clear = "rgba(0, 0, 0, 0)";
  const grid = { gridcolor: colour("border-color"), zerolinecolor: colour("border-color") };
  const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name));
  const themed = {
    ...layout,
    ...Object.fromEntries(axes.map((name) => [name, { automargin: true, ...grid, ...layout[name] }])),
    paper_bgcolor: clear,
    plot_bgcolor: clear,
    font: { ...layout.font, color: colour("text-color"), family: colour("font") },
  };
  Plotly.react(place, traces, themed, { responsive: true, displaylogo: false });
}

const charts = [...document.querySelectorAll(".chart")];
/** @type {Map<Element, { data: any[], layout: any }>} */
const figures = new Map();
await Promise.all(charts.map(async (place) => {
  const bytes = await bytesOf(place.nextElementSibling.textContent);
  figures.set(place, JSON.parse(new TextDecoder().decode(bytes)));
}));
const first = document.querySelector(".first").shadowRoot;
const draws = [await component("overview", first)];
draws[0]();
/** @type {NodeListOf<HTMLElement>} */
const canvases = document.querySelectorAll(".canvas");
draws.push(...await Promise.all([...canvases].map((place) => component(place.dataset.name, place))));
await loadPlotly();

function drawAll() {
  draws.forEach((draw) => draw());
  charts.forEach(drawChart);
}

drawAll();
scheme.addEventListener("change", drawAll);
for (const name of ["beforeprint", "afterprint"]) addEventListener(name, () => charts.forEach(drawChart));
document.body.dataset.ready = "1";
