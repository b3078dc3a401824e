// Questions that were asked, and what the answer of one used.
import { again } from "./ask.js";
import { html, nothing } from "./lit-html.js";
import { judging } from "./judging.js";
import { listed, opener } from "./listed.js";
import { whole } from "./layout.js";
import { at, busy, count, failed, pairs, section, short, some, sourceLink, when } from "./parts.js";

const selected = { id: null, item: null };
const answer = (row) => row.answer ?? (row.abstained ? "not in the memory" : "passages only");

export const openOne = opener("questions", selected);

export const questions = listed({
  path: "questions", title: "Questions", label: "In a question or its answer", thing: "question", rows: (reply) => reply.questions,
  row: (row) => html`<a href=${at("questions", row.id)}>${row.question}</a> <strong>${answer(row)}</strong> <span class="dim small">${when(row.asked_at)}, ${row.strategy}</span>`,
});

export function question(about) {
  const { item } = selected;
  if (!item) return html`${busy(selected)} ${failed(selected.error)}`;
  return html`<h1>${item.question}</h1> ${failed(selected.error)}
    <p class="answer ${item.answer ? "" : "none"}">${answer(item)}</p>
    <p class="dim small">${when(item.asked_at)}, ${item.strategy}${item.model ? `, ${item.model}` : ""}, ${item.seconds.toFixed(2)} s, ${count(item.tokens.in + item.tokens.out, "token")}</p>
    ${judging(item, about)}
    ${item.cached_from ? html`<p class="dim">Answered from <a href=${at("questions", item.cached_from)}>an earlier question</a></p>` : nothing}
    <p><button class="first" @click=${() => again(item.question)}>Ask again</button></p>
    ${some(item.pairs) ? section("Pairs it used", pairs(item.pairs.map((used) => used.qa))) : nothing}
    ${some(item.passages) ? section("Passages it used", item.passages.map((passage) => html`<details class="passage" ?open=${passage.cited}>
      <summary>${passage.title || short(passage.source)}${passage.cited ? html` <span class="tag">cited</span>` : nothing}</summary>${whole(passage.text, passage.title)}
      <p class="dim small">${sourceLink(passage.id, passage.source)}</p></details>`)) : nothing}`;
}
