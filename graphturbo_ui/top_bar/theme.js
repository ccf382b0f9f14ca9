// Switches between light and dark. Streamlit keeps the choice in localStorage, one entry per path,
// and reads it when a page is loaded: the page is loaded again at the same address.

const entry = (path) => `stActiveTheme-${path}-v2`;
const isDark = () =>
  getComputedStyle(document.querySelector("[data-testid=stApp]")).colorScheme === "dark";

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const label = `Switch to the ${isDark() ? "light" : "dark"} theme`;
  button.setAttribute("aria-label", label);
  button.title = label;
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
}
