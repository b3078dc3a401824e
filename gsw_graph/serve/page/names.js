// Names over all documents, and one of them followed.
import { get } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { at, busy, count, failed, nameLink, pairs, search, section, some } from "./parts.js";

const list = { text: "", found: null };
const one = { id: null, found: null };

export function openList() {
  find(list.text);
}

export function openOne(id) {
  if (one.id !== id) Object.assign(one, { id, found: null });
  fill(one, async () => ({ found: await get(`names/${encodeURIComponent(id)}`) }));
}

const find = (text) => fill(list, async () => ({ text, found: await get("names", { text, limit: 100 }) }));

export const names = () => html`<h1>Names</h1>
  ${search("In a name", list.text, find)} ${busy(list)} ${failed(list.error)}
  ${list.found ? html`<ul class="rows">${list.found.map((row) => html`<li>${nameLink(row.name, row.id)} <span class="dim small">${count(row.passages, "passage")}</span></li>`)}</ul>
    ${some(list.found) ? nothing : html`<p class="dim">No name has this in it.</p>`}` : nothing}`;

export function name() {
  const { found } = one;
  if (!found) return html`${busy(one)} ${failed(one.error)}`;
  return html`<h1>${found.name}</h1> ${failed(one.error)}
    <p class="dim small">in ${count(found.passages, "passage")}</p>
    ${Object.keys(found.roles).length ? section("Roles", html`<ul class="facts">${Object.entries(found.roles).map(([role, states]) => html`<li>${role} <span class="dim">${states.join("; ")}</span></li>`)}</ul>`) : nothing}
    ${some(found.pairs) ? section(count(found.pairs.length, "pair"), pairs(found.pairs)) : nothing}
    ${some(found.facts) ? section(count(found.facts.length, "proposition"), html`<ul class="facts">${found.facts.map((fact) => html`<li>${fact.text}</li>`)}</ul>`) : nothing}
    ${some(found.beside) ? section("Names beside it", html`<p>${found.beside.map((row) => html`${nameLink(row.name, row.id)} <span class="dim small">${row.passages}</span> &nbsp; `)}</p>`) : nothing}
    ${some(found.places) ? section("Passages", found.places.map((place) => html`<details class="passage"><summary>${place.title || place.source}</summary>
      <p class="text">${place.text}</p><p class="dim small"><a href=${at("documents", place.document)}>${place.source}</a></p></details>`)) : nothing}`;
}
