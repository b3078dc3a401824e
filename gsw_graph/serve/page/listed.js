// A list under a search, which comes in pages: "More" loads the next one. And one item of it, whole.
import { get } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { busy, count, failed, search, some } from "./parts.js";

const PAGE = 100;

// path: of the API; rows: what of its reply is listed, and row: how one of them is shown; thing: its name; empty: what is shown where nothing is found.
export function listed({ path, title, label, thing, rows = (reply) => reply, row, empty = nothing }) {
  const list = { text: "", items: null, total: null, more: false };
  const take = async (text, before) => {
    const reply = await get(path, { text, skip: before.length, limit: PAGE });
    const known = new Set(before.map((item) => item.id)); // new rows may have moved the others
    return { text, items: [...before, ...rows(reply).filter((item) => !known.has(item.id))], total: reply.total ?? null, more: reply.total === undefined ? rows(reply).length === PAGE : before.length + rows(reply).length < reply.total };
  };
  const find = (text) => fill(list, () => take(text, []));
  const shown = () => html`${list.total === null ? nothing : html`<p class="dim">${count(list.total, thing)}${list.more ? `, the first ${list.items.length}` : ""}</p>`}
    <ul class="rows">${list.items.map((item) => html`<li>${row(item)}</li>`)}</ul>
    ${some(list.items) ? nothing : empty}
    ${list.more ? html`<p><button @click=${() => fill(list, () => take(list.text, list.items))} ?disabled=${list.busy}>More</button></p>` : nothing}`;
  return {
    openList: () => find(list.text),
    show: () => html`<h1>${title}</h1> ${search(label, list.text, find)} ${list.items ? shown() : nothing} ${busy(list)} ${failed(list.error)}`,
  };
}

// Fills `selected` with what the API returns for an id.
export function opener(path, selected) {
  return (id) => {
    if (selected.id !== id) Object.assign(selected, { id, item: null });
    fill(selected, async () => ({ item: await get(`${path}/${encodeURIComponent(id)}`) }));
  };
}
