// The state of the page is plain objects, one a view; whoever changes one calls `redraw`.
import { render } from "./lit-html.js";

let page = () => "";
let waiting = false;

export function start(template) {
  page = template;
  redraw();
}

export function redraw() {
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    render(page(), document.body);
  });
}

// Runs one request of a view: `busy` while it runs, `error` where it fails; an older one that comes late is dropped.
export async function fill(view, work) {
  const request = (view.request = (view.request || 0) + 1);
  Object.assign(view, { busy: true, error: null });
  redraw();
  try {
    const changes = await work();
    if (view.request === request) Object.assign(view, changes);
  } catch (error) {
    if (view.request === request) view.error = error;
  }
  if (view.request === request) view.busy = false;
  redraw();
}
