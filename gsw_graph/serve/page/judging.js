// Saying that an answer is right or wrong, and the note on its verdict.
import { post } from "./api.js";
import { fill } from "./draw.js";
import { html, nothing } from "./lit-html.js";
import { failed } from "./parts.js";

const view = { id: null, judged: null }; // the question that was judged last, as it is kept then
const NOTES = { confirmed: "You said that this is right; it may be returned again unchanged.", rejected: "You said that this is wrong; nothing of it is used again." };

function judge(id, how) {
  if (view.id !== id) Object.assign(view, { id, judged: null });
  fill(view, async () => ({ judged: await post(`questions/${encodeURIComponent(id)}/${how}`, {}) }));
}

// question: an answer, or a question that was asked; one that was not kept or answered has nothing to judge.
export function judging(question, about) {
  if (!question.id || !question.answer) return nothing;
  const mine = view.id === question.id;
  const verdict = mine && view.judged ? view.judged.verdict : question.verdict;
  const button = (how, value, text) => html`<button aria-pressed=${verdict === value} ?disabled=${mine && view.busy} @click=${() => judge(question.id, how)}>${text}</button>`;
  return html`${about?.read_only ? nothing : html`<p class="line" role="group" aria-label="Is this answer right?">${button("confirm", "confirmed", "Right")} ${button("reject", "rejected", "Wrong")}</p>`}
    <p class="dim small" role="status">${NOTES[verdict] || nothing}</p>
    ${mine ? failed(view.error) : nothing}`;
}
