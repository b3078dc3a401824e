// The page: its views by the address behind `#`, who may see it, keys.
import { Fault, get, memoryName, setToken, tokenSent } from "./api.js";
import { asking } from "./ask.js";
import * as documents from "./documents.js";
import { redraw, start } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { listen, loading, overlay } from "./load.js";
import * as names from "./names.js";
import { count, failed, shareFolder } from "./parts.js";
import * as questions from "./questions.js";

const page = { view: "ask", id: "", about: null, status: null, memories: [], own: "", error: null };
const VIEWS = {
  ask: { title: "Ask", show: () => asking(page.about, page.status) },
  documents: { title: "Documents", openList: documents.documents.openList, openOne: documents.openOne, show: () => (page.id ? documents.document_(page.about) : documents.documents.show()) },
  names: { title: "Names", openList: names.names.openList, openOne: names.openOne, show: () => (page.id ? names.name(page.about) : names.names.show()) },
  questions: { title: "Questions", openList: questions.questions.openList, openOne: questions.openOne, show: () => (page.id ? questions.question(page.about) : questions.questions.show()) },
  load: { title: "Load", show: () => loading(page.about) },
};

async function route() {
  const [, view, id = ""] = location.hash.split("/");
  Object.assign(page, { view: VIEWS[view] ? view : "ask", id: decodeURIComponent(id) });
  document.title = [VIEWS[page.view].title, memoryName(), "gswgraph"].filter(Boolean).join(" - ");
  if (!page.about) return;
  if (page.id) VIEWS[page.view].openOne?.(page.id);
  else VIEWS[page.view].openList?.();
  redraw();
  status();
}

async function status() {
  const before = page.status?.version;
  page.status = await get("status").catch(() => page.status);
  redraw();
  if (page.status?.version !== before) shareSources();
}

// The documents come by source: what the first and the last share, all share.
async function shareSources() {
  const ends = async (skip) => (await get("documents", { skip, limit: 1 })).documents[0]?.source || "";
  try {
    shareFolder(await ends(0), await ends(Math.max(0, (page.status.nodes.Document || 1) - 1)));
  } catch {
    return; // sources stay whole
  }
  redraw();
}

const named = (name) => name || "default";

// An address may name a memory that does not exist; the server would open it empty.
async function chosen() {
  const name = memoryName();
  const [memories, about] = await Promise.all([get("memories", {}, null), get("about", {}, null)]);
  page.own = new URLSearchParams(about.memory.split("?")[1] || "").get("memory") || "";
  page.memories = [...new Set([...memories.map((memory) => memory.name), page.own])].sort();
  if (name !== null && !page.memories.includes(name)) throw new Fault({ error: `there is no memory ${JSON.stringify(name)}`, hint: `Choose one of: ${page.memories.map(named).join(", ")}` }, 400);
  return name === null ? about : get("about");
}

async function enter() {
  page.error = null;
  try {
    page.about = await chosen();
    await route();
  } catch (error) {
    page.error = error;
  }
  redraw();
}

const token = () => html`<form class="line" @submit=${(event) => { event.preventDefault(); setToken(new FormData(event.target).get("token")); enter(); }}>
  <label>Token of this server <input name="token" type="password" autocomplete="off" required></label><button class="first">Enter</button></form>
  ${tokenSent() ? html`<p class="error" role="alert">The server does not take this token.</p>` : nothing}
  <p class="dim">The server printed the file of the token when it started.</p>`;

const counts = (nodes) => [count(nodes.Document || 0, "document"), count(nodes.Passage || 0, "passage"), ...(nodes.QAPair ? [count(nodes.QAPair, "pair")] : []), count(nodes.Concept || 0, "name")].join(" · ");

function chooser() {
  const name = memoryName() ?? page.own;
  const choose = (event) => { location.search = event.target.value === page.own ? "" : `?memory=${encodeURIComponent(event.target.value)}`; };
  if (page.memories.length === 1 && page.about) return html`<span title=${page.about.memory}>Memory ${named(name)}</span>`;
  return html`<label title=${page.about?.memory || ""}>Memory <select id="memory" @change=${choose}>
    ${page.about ? nothing : html`<option selected disabled>choose</option>`}
    ${page.memories.map((other) => html`<option value=${other} ?selected=${page.about && other === name}>${named(other)}</option>`)}</select></label>`;
}

start(() => html`
  <header>
    <nav aria-label="Views">${Object.entries(VIEWS).map(([name, { title }]) => html`<a href=${`#/${name}`} aria-current=${page.view === name ? "page" : nothing}>${title}</a>`)}</nav>
    <div class="dim small">${page.memories.length ? chooser() : nothing} <span>${page.status ? counts(page.status.nodes) : nothing}</span></div>
  </header>
  <main>${page.about ? VIEWS[page.view].show() : page.error?.status === 401 ? token() : failed(page.error)}</main>
  <footer class="dim small"><a href="/openapi.json">Routes of the HTTP API</a></footer>
  ${overlay()}`);

addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const field = document.getElementById("question") || document.querySelector("input[type=search]");
  if (field) { event.preventDefault(); field.focus(); field.select(); }
});
listen(() => page.about && !page.about.read_only);
enter();
