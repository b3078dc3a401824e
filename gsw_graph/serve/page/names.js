// Names over all documents, and one of them followed.
import { post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { listed, opener } from "./listed.js";
import { at, busy, count, failed, nameLink, pairs, section, some } from "./parts.js";

const one = { id: null, found: null };

export const openOne = opener("names", one);

export const names = listed({
  path: "names", title: "Names", label: "In a name", thing: "name",
  row: (row) => html`${nameLink(row.name, row.id)} <span class="dim small">${count(row.passages, "passage")}</span>`,
  empty: html`<p class="dim">No name has this in it.</p>`,
});

async function rename(name) {
  const value = prompt(`What is ${name} called?`, name);
  if (!value || value === name) return;
  await fill(one, async () => { await post("corrections", { action: "rename", values: [name, value] }); return {}; });
  if (!one.error) location.hash = at("names", value);
}

export function name(about) {
  const { found } = one;
  if (!found) return html`${busy(one)} ${failed(one.error)}`;
  return html`<h1>${found.name}</h1> ${failed(one.error)}
    <p class="dim small">in ${count(found.passages, "passage")} ${about?.read_only ? nothing : html`<button class="small" @click=${() => rename(found.name)}>Rename it</button>`}</p>
    ${Object.keys(found.roles).length ? section("Roles", html`<ul class="facts">${Object.entries(found.roles).map(([role, states]) => html`<li>${role} <span class="dim">${states.join("; ")}</span></li>`)}</ul>`) : nothing}
    ${some(found.pairs) ? section(count(found.pairs.length, "pair"), pairs(found.pairs)) : nothing}
    ${some(found.facts) ? section(count(found.facts.length, "proposition"), html`<ul class="facts">${found.facts.map((fact) => html`<li>${fact.text}</li>`)}</ul>`) : nothing}
    ${some(found.beside) ? section("Names beside it", html`<p>${found.beside.map((row) => html`${nameLink(row.name, row.id)} <span class="dim small">${row.passages}</span> &nbsp; `)}</p>`) : nothing}
    ${some(found.places) ? section("Passages", found.places.map((place) => html`<details class="passage"><summary>${place.title || place.source}</summary>
      <p class="text">${place.text}</p><p class="dim small"><a href=${at("documents", place.document)}>${place.source}</a></p></details>`)) : nothing}`;
}
