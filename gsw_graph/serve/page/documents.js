// Documents of the memory, and one of them whole with what was found in it.
import { get, post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { at, busy, count, failed, nameLink, pairs, search, section, some, when } from "./parts.js";

const list = { text: "", found: null };
const one = { id: null, found: null };

export function openList() {
  find(list.text);
}

export function openOne(id) {
  if (one.id !== id) Object.assign(one, { id, found: null });
  fill(one, async () => ({ found: await get(`documents/${encodeURIComponent(id)}`) }));
}

const find = (text) => fill(list, async () => ({ text, found: await get("documents", { text, limit: 200 }) }));

export const documents = () => html`<h1>Documents</h1>
  ${search("In a source or title", list.text, find)} ${busy(list)} ${failed(list.error)}
  ${list.found ? html`<p class="dim">${count(list.found.total, "document")}${list.found.total > list.found.documents.length ? `, the first ${list.found.documents.length}` : ""}</p>
    <ul class="rows">${list.found.documents.map((row) => html`<li><a href=${at("documents", row.id)}>${row.title || row.source}</a>
      <span class="dim small">${row.source}, ${count(row.passages, "passage")}, ${row.extractor}${row.status === "ready" ? "" : `, ${row.status}`}</span></li>`)}</ul>
    ${list.found.total ? nothing : html`<p><a href="#/load">Load some</a></p>`}` : nothing}`;

async function forget(source) {
  if (!confirm(`Forget ${source}, with all that only it supports?`)) return;
  await fill(one, async () => { await post("forget", { sources: [source] }); return { found: null, id: null }; });
  if (!one.error) location.hash = "#/documents";
}

export function document_(about) {
  const { found } = one;
  if (!found) return html`${busy(one)} ${failed(one.error)}`;
  const { document } = found;
  return html`<h1>${document.title || document.source}</h1> ${failed(one.error)}
    <p class="dim small">${document.source}, read by ${document.model || document.extractor}, loaded ${when(document.loaded_at)}</p>
    ${about?.read_only ? nothing : html`<p><button @click=${() => forget(document.source)}>Forget it</button></p>`}
    ${found.passages.map((passage) => html`<section class="passage">
      ${found.passages.length > 1 || passage.title !== document.title ? html`<h2>${passage.title || `Passage ${passage.position + 1}`}</h2>` : nothing}
      <p class="text">${passage.text}</p>
      ${some(passage.entities) ? section(count(passage.entities.length, "name"), html`<ul class="facts">${passage.entities.map(entity)}</ul>`, false) : nothing}
      ${some(passage.phrases) ? section(count(passage.phrases.length, "verb phrase"), passage.phrases.map((phrase) => html`<h3>${phrase.phrase}</h3>${pairs(phrase.pairs)}`), false) : nothing}
      ${some(passage.propositions) ? section(count(passage.propositions.length, "proposition"), html`<ul class="facts">${passage.propositions.map((fact) => html`<li>${fact.text}</li>`)}</ul>`, false) : nothing}
    </section>`)}`;
}

const entity = (one) => html`<li>${nameLink(one.name)} <span class="dim">${Object.entries(one.roles)
  .map(([role, states]) => (states.length ? `${role} (${states.join(", ")})` : role)).join("; ")}${one.from_ ? ` ${one.from_} to ${one.to}` : ""}</span></li>`;
