// Copies the page's full address or the command line. Where the browser refuses the clipboard, the
// text is shown and selected.

const SAID = { link: "Link copied.", command: "Command copied." };
const REFUSED = "The browser refuses the clipboard: copy this text with Ctrl+C or ⌘C.";

export default function ({ data, parentElement }) {
  const said = parentElement.querySelector("p");
  const field = parentElement.querySelector("textarea");
  const { origin, pathname } = window.location;
  const texts = { link: origin + pathname + data.link, command: data.command };
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = async () => {
      const kind = button.dataset.copies;
      try {
        await navigator.clipboard.writeText(texts[kind]);
        said.textContent = SAID[kind];
        field.hidden = true;
      } catch {
        said.textContent = REFUSED;
        field.hidden = false;
        field.value = texts[kind];
        field.select();
      }
    };
  }
}
