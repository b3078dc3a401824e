// Files go in by choosing or by dragging them anywhere onto the page, with progress, and a report at the end.
import { follow } from "./api.js";
import { redraw } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { count, failed, some } from "./parts.js";

const view = { extractor: "auto", files: [], progress: null, report: null, error: null, running: null, over: false };

// Files and whole folders that were dropped, with their paths.
async function dropped(transfer) {
  const files = [];
  const walk = async (entry, path) => {
    if (entry.isFile) files.push([`${path}${entry.name}`, await new Promise((done, fail) => entry.file(done, fail))]);
    if (!entry.isDirectory) return;
    const reader = entry.createReader();
    for (;;) {
      const entries = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!entries.length) return;
      for (const inner of entries) await walk(inner, `${path}${entry.name}/`);
    }
  };
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) await walk(entry, "");
  return files.length ? files : [...transfer.files].map((file) => [file.name, file]);
}

export function listen(may) {
  const over = (shown) => (event) => {
    if (!may() || ![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    if (view.over !== shown) { view.over = shown; redraw(); }
  };
  addEventListener("dragover", over(true));
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false)(event); });
  addEventListener("drop", async (event) => {
    over(false)(event);
    if (!event.defaultPrevented) return;
    location.hash = "#/load";
    try {
      load(await dropped(event.dataTransfer));
    } catch (error) {
      view.error = error;
      redraw();
    }
  });
}

async function load(files) {
  if (!files.length) return;
  if (view.running) {
    view.error = new Error("A load is under way; give these files again when it is done.");
    redraw();
    return;
  }
  const running = new AbortController();
  Object.assign(view, { running, files: files.map(([name]) => name), progress: null, report: null, error: null });
  redraw();
  const form = new FormData();
  form.append("extractor", view.extractor);
  for (const [name, file] of files) form.append("files", file, name);
  try {
    view.report = await follow("load", form, "report", (_, now) => { view.progress = now; redraw(); }, running.signal);
  } catch (error) {
    view.error = error.name === "AbortError" ? new Error("The load was stopped; what was written stays. Load the same files again to complete it.") : error;
  }
  view.running = null;
  redraw();
}

export const overlay = () => (view.over ? html`<div class="overlay">Drop files or folders to load them</div>` : nothing);

const chosen = (event) => {
  load([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
  event.target.value = "";
};

export const loading = (about) => html`<h1>Load</h1>
  ${about?.read_only ? html`<p>This server only reads.</p>` : html`
  <p>Text, Markdown, PDF, HTML, Office documents, mail, JSON, workspaces: drag files or folders onto this page, or choose them.</p>
  <p class="line"><label class="button first">Choose files <input type="file" multiple @change=${chosen} ?disabled=${Boolean(view.running)}></label>
    <label class="button">Choose a folder <input type="file" webkitdirectory @change=${chosen} ?disabled=${Boolean(view.running)}></label>
    <label>Read by <select @change=${(event) => { view.extractor = event.target.value; }}>
      ${(about?.extractors || ["auto"]).map((name) => html`<option ?selected=${name === view.extractor}>${name}</option>`)}</select></label></p>`}
  ${view.running ? html`<p role="status">${doing()} <button @click=${() => view.running?.abort()}>Stop</button></p>
    <progress max=${view.progress?.total || 1} .value=${view.progress?.total ? view.progress.passages : 0}></progress>` : nothing}
  ${failed(view.error)} ${view.report ? reported(view.report) : nothing}`;

function doing() {
  const now = view.progress;
  if (!now) return `Sending ${count(view.files.length, "file")} …`;
  if (now.stage === "indexing") return "Building the indexes …";
  return `${count(now.passages, "passage")}${now.total ? ` of ${now.total.toLocaleString("en")}` : ""} read …`;
}

function reported(report) {
  const { documents } = report;
  const parts = ["new", "replaced", "unchanged", "failed"].filter((name) => documents[name]).map((name) => `${documents[name]} ${name}`);
  const listed = (title, list) => (some(list) ? html`<h2>${title}</h2><ul class="facts">${list.map((file) => html`<li>${file.source} <span class="dim">${file.reason}</span></li>`)}</ul>` : nothing);
  return html`<section aria-live="polite"><p class="answer" id="report">${count(documents.new + documents.replaced + documents.unchanged + documents.failed, "document")}: ${parts.join(", ") || "nothing to load"}</p>
    <p class="dim small">${Object.entries(report.nodes).map(([label, number]) => `${number.toLocaleString("en")} ${label}`).join(" · ")} · ${report.seconds.total.toFixed(1)} s</p>
    ${report.note ? html`<p>${report.note}</p>` : nothing} ${listed("Failed", report.failures)} ${listed("Left out", report.skipped)}
    <p><a href="#/documents">Documents</a> · <a href="#/ask">Ask</a></p></section>`;
}
