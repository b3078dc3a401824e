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

// The text with the sentences marked that are in it, with any white space between their words.
export function marked(text, sentences) {
  const spans = [];
  for (const sentence of sentences) {
    const words = sentence.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const match = words[0] ? new RegExp(words.join("\\s+")).exec(text) : null;
    if (match) spans.push([match.index, match.index + match[0].length]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  const parts = [];
  let from = 0;
  for (const [start, end] of spans) {
    if (start < from) continue;
    parts.push(text.slice(from, start), html`<mark>${text.slice(start, end)}</mark>`);
    from = end;
  }
  return [...parts, text.slice(from)];
}
