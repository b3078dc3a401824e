// Asking: the question, what is being done, the answer as it comes, the plan to edit and ask again.
import { drawn, follow } from "./api.js";
import { answered } from "./answer.js";
import { redraw } from "./draw.js";
import { laidOut } from "./layout.js";
import { html, nothing } from "./lit-html.js";
import { failed, section, some } from "./parts.js";

const view = { question: "", strategy: "auto", k: 5, llm: true, stage: "", text: "", answer: null, picture: null, places: {}, plan: null, more: false, error: null, running: null, turns: [] };
const TURNS = 4; // earlier questions that are sent with a question, which may depend on them
const FIRST = ["auto", "linked", "dense", "bm25", "select"];
const SHORT = 120; // letters of a short answer, while it comes
const MORE = ":more"; // no name of a strategy
const STAGES = { plan: "Taking the question apart", embed: "Reading the question", database: "Following the graph", rank: "Weighing what was found", rerank: "Weighing what was found", answer: "Answering", cypher: "Asking the graph" };

export function again(question) {
  view.question = question;
  location.hash = "#/ask";
  ask();
}

async function ask(plan = null) {
  const question = plan && view.answer ? view.answer.question : view.question; // a plan is one of the complete question
  if (!question.trim()) return;
  view.running?.abort();
  const running = new AbortController();
  Object.assign(view, { running, answer: null, picture: null, places: {}, error: null, text: "", stage: "Asking" });
  redraw();
  const { strategy, k, llm } = view;
  const turns = view.turns.slice(-TURNS);
  const onEvent = (event, data) => {
    if (view.running !== running) return;
    if (event === "places") view.places = data;
    if (event === "text") view.text += data.text;
    if (event === "stage" && data.stage === "answer" && !data.text) view.text = ""; // another answer, which is complete
    if (event === "stage") view.stage = data.text || STAGES[data.stage] || data.stage;
    redraw();
  };
  try {
    const answer = await follow("ask", { question, strategy, k, llm, plan, turns, trace: true }, "answer", onEvent, running.signal);
    if (view.running !== running) return;
    Object.assign(view, { answer, plan: answer.plan });
    view.turns = [...view.turns.filter((turn) => turn.question !== answer.question), { question: answer.question, answer: answer.text || "" }];
    redraw();
    const picture = await drawn(answer);
    if (view.running === running) view.picture = picture;
  } catch (error) {
    if (view.running === running && error.name !== "AbortError") view.error = error;
  } finally {
    if (view.running === running) view.running = null;
    redraw();
  }
}

function stop() {
  view.running?.abort();
  view.running = null;
  redraw();
}

function begin() {
  stop();
  Object.assign(view, { question: "", answer: null, plan: null, error: null, turns: [] });
  redraw();
  document.getElementById("question").focus();
}

// The turns before the answer that is shown, and a way to leave them.
function conversation() {
  if (!view.turns.length) return nothing;
  const earlier = view.turns.slice(-TURNS - 1, view.answer ? -1 : undefined);
  return html`<div class="turns dim small">
    ${some(earlier) ? html`<ul class="facts" aria-label="Earlier in this conversation">${earlier.map((turn) => html`<li>${turn.question} <strong>${turn.answer.slice(0, 200)}</strong></li>`)}</ul>` : nothing}
    <button type="button" @click=${begin}>New conversation</button> A question may refer to the last ones: "and when did she die?"</div>`;
}

// What a strategy cannot do without, as the memory and the server have it.
function fits(needs, about, status) {
  const nodes = status?.nodes || {};
  const has = { llm: Boolean(about.llm) && view.llm, pairs: nodes.QAPair > 0, propositions: nodes.Proposition > 0 };
  return needs.every((need) => has[need]);
}

// Those that most people need; the others are behind "more".
function choice(about, status) {
  const fitting = Object.keys(about.strategies).filter((name) => name === view.strategy || fits(about.needs[name], about, status));
  const shown = view.more ? fitting : fitting.filter((name) => FIRST.includes(name) || name === view.strategy);
  const choose = (event) => {
    if (event.target.value === MORE) view.more = true;
    else view.strategy = event.target.value;
    redraw();
    event.target.value = view.strategy;
  };
  return html`<label>Strategy <select @change=${choose} .value=${view.strategy}>
    ${shown.map((name) => html`<option value=${name} title=${about.strategies[name].replaceAll("`", "")} ?selected=${name === view.strategy}>${name}</option>`)}
    ${shown.length < fitting.length ? html`<option value=${MORE}>more …</option>` : nothing}
  </select></label>`;
}

export function asking(about, status) {
  const waits = view.running && !view.answer;
  return html`
    <form class="ask" @submit=${(event) => { event.preventDefault(); ask(); }}>
      <label for="question" class="hidden">Question</label>
      <input id="question" autocomplete="off" autofocus placeholder="Ask the memory" maxlength="4000"
        .value=${view.question} @input=${(event) => { view.question = event.target.value; }}>
      ${waits ? html`<button type="button" @click=${stop}>Stop</button>` : html`<button class="first">Ask</button>`}
      <div class="options">
        ${choice(about, status)}
        <label>Passages <input type="number" min="1" max="50" .value=${String(view.k)} @change=${(event) => { view.k = Number(event.target.value) || 5; }}></label>
        ${about?.llm ? html`<label><input type="checkbox" .checked=${view.llm} @change=${(event) => { view.llm = event.target.checked; }}> ask ${about.llm}</label>` : nothing}
      </div>
      ${view.strategy !== "auto" ? html`<p class="dim small">${about.strategies[view.strategy].replaceAll("`", "")}</p>` : nothing}
    </form>
    ${conversation()}
    ${waits ? html`<div class="coming" aria-live="polite"><p class="dim" role="status">${view.stage} …</p>${view.text ? coming(view.text) : nothing}</div>` : nothing}
    ${failed(view.error)}
    ${view.answer ? answered(view.answer, view.places, view.picture, about) : nothing}
    ${view.answer ? section("Plan", planned(), Boolean(view.plan)) : nothing}`;
}

// The short answer comes first, without marks and in a paragraph of its own.
function coming(text) {
  const [head] = text.split("\n\n", 1);
  if (head.length > SHORT || head.endsWith("]")) return laidOut(text);
  return html`<p class="answer">${head}</p>${laidOut(text.slice(head.length))}`;
}

// Sub-questions, one a line; `#1` stands for the answer of the first.
function planned() {
  const steps = view.plan || [];
  const change = (plan) => { view.plan = plan; redraw(); };
  const edit = (number, question) => change(steps.map((step, index) => (index === number ? { ...step, question } : step)));
  const add = () => change([...steps, { id: Math.max(0, ...steps.map((step) => step.id)) + 1, question: "" }]);
  const drop = (number) => change(steps.filter((_, index) => index !== number));
  return html`
    <p class="dim small">Sub-questions in the order in which they are followed; #1 stands for the answer of the first.</p>
    <form @submit=${(event) => { event.preventDefault(); ask(steps.filter((step) => step.question.trim())); }}>
      <ol class="plan">${steps.map((step, number) => html`<li value=${step.id}>
        <input aria-label=${`Sub-question ${step.id}`} .value=${step.question} @input=${(event) => edit(number, event.target.value)}>
        <button type="button" aria-label=${`Remove sub-question ${step.id}`} @click=${() => drop(number)}>×</button></li>`)}</ol>
      <button type="button" @click=${add}>Add a step</button>
      ${steps.length ? html`<button class="first">Ask with this plan</button>` : nothing}
    </form>`;
}
