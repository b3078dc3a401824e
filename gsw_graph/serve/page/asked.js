// Questions that were asked, and what the answer of one used.
import { get } from "./api.js";
import { again } from "./ask.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { judging } from "./judging.js";
import { at, busy, count, failed, pairs, search, section, some, when } from "./parts.js";

const list = { text: "", found: null };
const one = { id: null, found: null };

export function openList() {
  find(list.text);
}

export function openOne(id) {
  if (one.id !== id) Object.assign(one, { id, found: null });
  fill(one, async () => ({ found: await get(`questions/${encodeURIComponent(id)}`) }));
}

const find = (text) => fill(list, async () => ({ text, found: await get("questions", { text, limit: 100 }) }));
const answer = (row) => row.answer ?? (row.abstained ? "not in the memory" : "passages only");

export const asked = () => html`<h1>Asked</h1>
  ${search("In a question or its answer", list.text, find)} ${busy(list)} ${failed(list.error)}
  ${list.found ? html`<p class="dim">${count(list.found.total, "question")}</p>
    <ul class="rows">${list.found.questions.map((row) => html`<li><a href=${at("asked", row.id)}>${row.question}</a> <strong>${answer(row)}</strong>
      <span class="dim small">${when(row.asked_at)}, ${row.strategy}</span></li>`)}</ul>` : nothing}`;

export function question(about) {
  const { found } = one;
  if (!found) return html`${busy(one)} ${failed(one.error)}`;
  return html`<h1>${found.question}</h1> ${failed(one.error)}
    <p class="answer ${found.answer ? "" : "none"}">${answer(found)}</p>
    <p class="dim small">${when(found.asked_at)}, ${found.strategy}${found.model ? `, ${found.model}` : ""}, ${found.seconds.toFixed(2)} s, ${count(found.tokens.in + found.tokens.out, "token")}</p>
    ${judging(found, about)}
    ${found.past ? html`<p class="dim">Answered from <a href=${at("asked", found.past)}>an earlier question</a></p>` : nothing}
    <p><button class="first" @click=${() => again(found.question)}>Ask again</button></p>
    ${some(found.pairs) ? section("Pairs it used", pairs(found.pairs.map((used) => used.qa))) : nothing}
    ${some(found.passages) ? section("Passages it used", found.passages.map((passage) => html`<details class="passage" ?open=${passage.cited}>
      <summary>${passage.title || passage.source}${passage.cited ? html` <span class="tag">cited</span>` : nothing}</summary><p class="text">${passage.text}</p>
      <p class="dim small"><a href=${at("documents", passage.id)}>${passage.source}</a></p></details>`)) : nothing}`;
}
