// Follows the link of a container once the page is drawn: the session goes along, as it would not
// with a new address. Streamlit loses a click that comes while a script runs.

const POLL_MS = 50;
const MOST_POLLS = 200;

/** @param {{ data: { container: string } }} given */
export default function ({ data }) {
  let polls = 0;
  const timer = setInterval(() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const link = document.querySelector(`.${data.container} a`);
    polls += 1;
    if (link instanceof HTMLElement && app?.getAttribute("data-test-script-state") === "notRunning") {
      clearInterval(timer);
      link.click();
    } else if (polls > MOST_POLLS) {
      clearInterval(timer);
    }
  }, POLL_MS);
  return () => clearInterval(timer);
}
