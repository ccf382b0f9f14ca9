// Switches between light and dark. Streamlit keeps the choice in localStorage, one entry per path,
// and reads it when a page is loaded: the page is loaded again at the same address.
// Where the system switches while the page is open, Python draws its pictures again.

const MOST_FRAMES = 120;
const entry = (path) => `stActiveTheme-${path}-v2`;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () =>
  getComputedStyle(document.querySelector("[data-testid=stApp]")).colorScheme === "dark";

/** Once the page has the system's theme, run the script: its pictures have colours from Python. */
function follow(run, framesLeft) {
  if (isDark() === system.matches) run();
  // Never, where the visitor chose a theme by the button.
  else if (framesLeft > 0) requestAnimationFrame(() => follow(run, framesLeft - 1));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  const label = `Switch to the ${isDark() ? "light" : "dark"} theme`;
  button.setAttribute("aria-label", label);
  button.title = label;
  button.dataset.drawn = data.theme;
  button.onclick = () => {
    const wanted = JSON.stringify(isDark() ? "Light" : "Dark");
    const here = window.location.pathname;
    const last = here.split("/").pop();
    const base = here.slice(0, here.length - last.length);
    for (const path of new Set([here, base, ...data.paths.map((each) => base + each)])) {
      localStorage.setItem(entry(path), wanted);
    }
    window.location.reload();
  };
  system.onchange = () => follow(() => setTriggerValue("system", true), MOST_FRAMES);
}
