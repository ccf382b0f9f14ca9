// What the app's scripts find on their page, and what they keep there.

/** Colours of palette.py; `script` of components/sources.py puts it in front. */
declare const PALETTE: {
  hues: { light: string[]; dark: string[] };
  kinds: string[];
  kindNames: string[];
  waits: string[];
  overlap: string;
  under: string;
  memory: string;
  capacity: string;
  causes: Record<string, string>;
  tensors: Record<string, string>;
  runs: Record<string, string>;
  hit: string;
  lit: Record<string, string>;
};

/** Plotly's own script, in a saved page. */
declare const Plotly: { react(place: Element, data: object[], layout: object, config: object): void };

interface Window {
  /** What the canvases share (components/canvas_kit.js). */
  graphturboCommon?: any;
  /** What the bar's script keeps between its calls (top_bar/page.js). */
  graphturboPage?: any;
  /** Whether clicks on names of views are followed (components/overview/views_below.js). */
  graphturboViews?: boolean;
}
