// Documents of the memory, and one of them whole with its facts.
import { post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { listed, opener } from "./listed.js";
import { whole } from "./layout.js";
import { at, busy, count, failed, nameLink, pairs, section, short, some, when } from "./parts.js";

const selected = { id: null, item: null };

export const openOne = opener("documents", selected);

export const documents = listed({
  path: "documents", title: "Documents", label: "In a source or title", thing: "document", rows: (reply) => reply.documents,
  row: (row) => html`<a href=${at("documents", row.id)}>${row.title || short(row.source)}</a>
    <span class="dim small" title=${row.source}>${short(row.source)}, ${count(row.passages, "passage")}, ${row.extractor}${row.status === "ready" ? "" : `, ${row.status}`}</span>`,
  empty: html`<p><a href="#/load">Load some</a></p>`,
});

async function forget(source) {
  if (!confirm(`Forget ${source}, with all that only it supports?`)) return;
  await fill(selected, async () => { await post("forget", { sources: [source] }); return { item: null, id: null }; });
  if (!selected.error) location.hash = "#/documents";
}

// A fact that is wrong; `gswgraph correct --undo` brings it back.
const remove = (about, fact) => about?.read_only ? nothing : html`<button class="small" aria-label="Remove this fact" @click=${async () => {
  if (!confirm("Remove this fact? Later loads keep it removed.")) return;
  await fill(selected, async () => { await post("corrections", { action: "remove", values: [fact.id] }); return {}; });
  if (!selected.error) openOne(selected.id);
}}>Remove</button>`;

export function document_(about) {
  const { item } = selected;
  if (!item) return html`${busy(selected)} ${failed(selected.error)}`;
  const { document } = item;
  return html`<h1>${document.title || document.source}</h1> ${failed(selected.error)}
    <p class="dim small">${document.source}, read by ${document.model || document.extractor}, loaded ${when(document.loaded_at)}</p>
    ${about?.read_only ? nothing : html`<p><button @click=${() => forget(document.source)}>Forget it</button></p>`}
    ${item.passages.map((passage) => html`<section class="passage">
      ${item.passages.length > 1 || passage.title !== document.title ? html`<h2>${passage.title || `Passage ${passage.position + 1}`}</h2>` : nothing}
      ${whole(passage.text, passage.title)}
      ${some(passage.entities) ? section(count(passage.entities.length, "name"), html`<ul class="facts">${passage.entities.map(entityLine)}</ul>`, false) : nothing}
      ${some(passage.phrases) ? section(count(passage.phrases.length, "verb phrase"), passage.phrases.map((phrase) => html`<h3>${phrase.phrase}</h3>${pairs(phrase.pairs, (pair) => remove(about, pair))}`), false) : nothing}
      ${some(passage.propositions) ? section(count(passage.propositions.length, "proposition"), html`<ul class="facts">${passage.propositions.map((fact) => html`<li>${fact.text} ${remove(about, fact)}</li>`)}</ul>`, false) : nothing}
    </section>`)}`;
}

const entityLine = (entity) => html`<li>${nameLink(entity.name)} <span class="dim">${Object.entries(entity.roles)
  .map(([role, states]) => (states.length ? `${role} (${states.join(", ")})` : role)).join("; ")}${entity.from_ ? ` ${entity.from_} to ${entity.to}` : ""}</span></li>`;
