// What several views show: errors, links, passages with marked sentences, pairs.
import { html, nothing } from "./lit-html.js";

export const some = (list) => Array.isArray(list) && list.length > 0;
export const count = (number, noun, plural = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
export const when = (time) => new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
export const at = (view, id = "") => `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}`;

export const failed = (error) =>
  error
    ? html`<div class="error" role="alert"><p>${error.message}${error.where ? html` <span class="dim">(${error.where})</span>` : nothing}</p>
        ${error.hint ? html`<p class="dim">${error.hint}</p>` : nothing}</div>`
    : nothing;

export const busy = (view, word = "Looking") => (view.busy ? html`<p class="dim" role="status">${word} …</p>` : nothing);

export const section = (title, inner, open = true) =>
  html`<details class="part" ?open=${open}><summary>${title}</summary>${inner}</details>`;

// action: what follows each pair.
export const pairs = (list, action = () => nothing) =>
  html`<ul class="facts">${list.map((pair) => html`<li>${pair.question} <strong>${pair.answers.join("; ") || "no answer"}</strong> ${action(pair)}</li>`)}</ul>`;

export const nameLink = (name, id) => html`<a href=${at("names", id || name)}>${name}</a>`;

export const search = (label, value, ask) =>
  html`<form class="line" role="search" @submit=${(event) => { event.preventDefault(); ask(new FormData(event.target).get("text")); }}>
    <input name="text" type="search" aria-label=${label} placeholder=${label} .value=${value}>
    <button>Find</button></form>`;

// A source without the folder that all sources of the memory share, else the end of its path; the whole of it in a
// tooltip.
const common = { folder: "" };
export function shareFolder(first, last) {
  let same = 0;
  while (same < first.length && first[same] === last[same]) same += 1;
  common.folder = first.slice(0, first.slice(0, same).lastIndexOf("/") + 1);
}
const beginning = /^(?:\/|[A-Za-z]:).*?(?=(?:\/[^/]+){3}$)/; // of a whole path, which its last three parts follow
export const short = (source) => (common.folder.length > 1 && source.startsWith(common.folder) ? source.slice(common.folder.length) : source.replace(beginning, "…"));
export const sourceLink = (id, source) => html`<a href=${at("documents", id)} title=${source}>${short(source)}</a>`;

// The titles that lead to a passage: of its document, and of its section.
export const steps = (passage) => [passage.title || short(passage.source), ...(passage.section || "").split(" > ").filter((part) => part && part !== passage.title)];
