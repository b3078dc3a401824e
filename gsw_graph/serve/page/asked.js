// Questions that were asked, and what the answer of one used.
import { again } from "./ask.js";
import { html, nothing } from "./lit-html.js";
import { judging } from "./judging.js";
import { listed, opener } from "./listed.js";
import { at, busy, count, failed, pairs, section, some, when } from "./parts.js";

const one = { id: null, found: null };
const answer = (row) => row.answer ?? (row.abstained ? "not in the memory" : "passages only");

export const openOne = opener("questions", one);

export const asked = listed({
  path: "questions", title: "Asked", label: "In a question or its answer", thing: "question", rows: (found) => found.questions,
  row: (row) => html`<a href=${at("asked", row.id)}>${row.question}</a> <strong>${answer(row)}</strong> <span class="dim small">${when(row.asked_at)}, ${row.strategy}</span>`,
});

export function question(about) {
  const { found } = one;
  if (!found) return html`${busy(one)} ${failed(one.error)}`;
  return html`<h1>${found.question}</h1> ${failed(one.error)}
    <p class="answer ${found.answer ? "" : "none"}">${answer(found)}</p>
    <p class="dim small">${when(found.asked_at)}, ${found.strategy}${found.model ? `, ${found.model}` : ""}, ${found.seconds.toFixed(2)} s, ${count(found.tokens.in + found.tokens.out, "token")}</p>
    ${judging(found, about)}
    ${found.cached_from ? html`<p class="dim">Answered from <a href=${at("asked", found.cached_from)}>an earlier question</a></p>` : nothing}
    <p><button class="first" @click=${() => again(found.question)}>Ask again</button></p>
    ${some(found.pairs) ? section("Pairs it used", pairs(found.pairs.map((used) => used.qa))) : nothing}
    ${some(found.passages) ? section("Passages it used", found.passages.map((passage) => html`<details class="passage" ?open=${passage.cited}>
      <summary>${passage.title || passage.source}${passage.cited ? html` <span class="tag">cited</span>` : nothing}</summary><p class="text">${passage.text}</p>
      <p class="dim small"><a href=${at("documents", passage.id)}>${passage.source}</a></p></details>`)) : nothing}`;
}
