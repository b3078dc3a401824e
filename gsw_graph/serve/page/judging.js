// Saying that an answer is right or wrong, and what was said of it.
import { post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { failed } from "./parts.js";

const view = { id: null, said: null }; // the question that was judged last, as it is kept then
const SAID = { confirmed: "You said that this is right; it may be given again as it is.", rejected: "You said that this is wrong; nothing of it is used again." };

function judge(id, how) {
  if (view.id !== id) Object.assign(view, { id, said: null });
  fill(view, async () => ({ said: await post(`questions/${encodeURIComponent(id)}/${how}`, {}) }));
}

// question: an answer, or a question that was asked; one that was not kept or answered has nothing to judge.
export function judging(question, about) {
  if (!question.id || !question.answer) return nothing;
  const mine = view.id === question.id;
  const verdict = mine && view.said ? view.said.verdict : question.verdict;
  const button = (how, said, text) => html`<button aria-pressed=${verdict === said} ?disabled=${mine && view.busy} @click=${() => judge(question.id, how)}>${text}</button>`;
  return html`${about?.read_only ? nothing : html`<p class="line" role="group" aria-label="Is this answer right?">${button("confirm", "confirmed", "Right")} ${button("reject", "rejected", "Wrong")}</p>`}
    <p class="dim small" role="status">${SAID[verdict] || nothing}</p>
    ${mine ? failed(view.error) : nothing}`;
}
