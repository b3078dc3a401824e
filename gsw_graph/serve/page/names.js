// Names over all documents, and one of them followed.
import { post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { listed, opener } from "./listed.js";
import { whole } from "./layout.js";
import { at, busy, count, failed, nameLink, pairs, section, short, some, sourceLink } from "./parts.js";

const selected = { id: null, item: null };

export const openOne = opener("names", selected);

export const names = listed({
  path: "names", title: "Names", label: "In a name", thing: "name",
  row: (row) => html`${nameLink(row.name, row.id)} <span class="dim small">${count(row.passages, "passage")}</span>`,
  empty: html`<p class="dim">No name has this in it.</p>`,
});

async function rename(name) {
  const value = prompt(`What is ${name} called?`, name);
  if (!value || value === name) return;
  await fill(selected, async () => { await post("corrections", { action: "rename", values: [name, value] }); return {}; });
  if (!selected.error) location.hash = at("names", value);
}

export function name(about) {
  const { item } = selected;
  if (!item) return html`${busy(selected)} ${failed(selected.error)}`;
  return html`<h1>${item.name}</h1> ${failed(selected.error)}
    <p class="dim small">in ${count(item.passages, "passage")} ${about?.read_only ? nothing : html`<button class="small" @click=${() => rename(item.name)}>Rename it</button>`}</p>
    ${Object.keys(item.roles).length ? section("Roles", html`<ul class="facts">${Object.entries(item.roles).map(([role, states]) => html`<li>${role} <span class="dim">${states.join("; ")}</span></li>`)}</ul>`) : nothing}
    ${some(item.pairs) ? section(count(item.pairs.length, "pair"), pairs(item.pairs)) : nothing}
    ${some(item.facts) ? section(count(item.facts.length, "proposition"), html`<ul class="facts">${item.facts.map((fact) => html`<li>${fact.text}</li>`)}</ul>`) : nothing}
    ${some(item.beside) ? section("Names beside it", html`<p>${item.beside.map((row) => html`${nameLink(row.name, row.id)} <span class="dim small">${row.passages}</span> &nbsp; `)}</p>`) : nothing}
    ${some(item.places) ? section("Passages", item.places.map((place) => html`<details class="passage"><summary>${place.title || short(place.source)}</summary>
      ${whole(place.text, place.title)}<p class="dim small">${sourceLink(place.document, place.source)}</p></details>`)) : nothing}`;
}
