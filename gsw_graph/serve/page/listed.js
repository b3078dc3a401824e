// A list under a search, which comes in pieces: "More" asks for the next one. And one thing of it, whole.
import { get } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { busy, count, failed, search, some } from "./parts.js";

const PIECE = 100;

// path: of the API; rows: what of its reply is listed, and row: how one of them is shown; thing: its name; empty: what stands where nothing is found.
export function listed({ path, title, label, thing, rows = (found) => found, row, empty = nothing }) {
  const list = { text: "", found: null, total: null, more: false };
  const take = async (text, before) => {
    const found = await get(path, { text, skip: before.length, limit: PIECE });
    const known = new Set(before.map((one) => one.id)); // what came meanwhile moves the others on
    return { text, found: [...before, ...rows(found).filter((one) => !known.has(one.id))], total: found.total ?? null, more: found.total === undefined ? rows(found).length === PIECE : before.length + rows(found).length < found.total };
  };
  const find = (text) => fill(list, () => take(text, []));
  const shown = () => html`${list.total === null ? nothing : html`<p class="dim">${count(list.total, thing)}${list.more ? `, the first ${list.found.length}` : ""}</p>`}
    <ul class="rows">${list.found.map((one) => html`<li>${row(one)}</li>`)}</ul>
    ${some(list.found) ? nothing : empty}
    ${list.more ? html`<p><button @click=${() => fill(list, () => take(list.text, list.found))} ?disabled=${list.busy}>More</button></p>` : nothing}`;
  return {
    openList: () => find(list.text),
    show: () => html`<h1>${title}</h1> ${search(label, list.text, find)} ${list.found ? shown() : nothing} ${busy(list)} ${failed(list.error)}`,
  };
}

// Fills `one` with what the API says of an id.
export function opener(path, one) {
  return (id) => {
    if (one.id !== id) Object.assign(one, { id, found: null });
    fill(one, async () => ({ found: await get(`${path}/${encodeURIComponent(id)}`) }));
  };
}
