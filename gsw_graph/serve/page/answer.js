// An answer: its text, its citations, the chains hop by hop, and the picture.
import { cited, fullText, note, shortAndFull } from "./citations.js";
import { html, nothing } from "./lit-html.js";
import { judging } from "./judging.js";
import { excerpt, whole } from "./layout.js";
import { at, count, section, some, sourceLink, steps, when } from "./parts.js";

// places: by passage, its sentences that answer.
export function answered(answer, places, picture, about) {
  return html`<article class="result">
    <div aria-live="polite">${summary(answer)}</div>
    ${judging(answer, about)}
    ${some(answer.citations) ? cited(answer.citations) : nothing}
    ${some(answer.conflicts) ? section("Passages say different things", conflicts(answer.conflicts)) : nothing}
    ${some(answer.chains) ? section(count(answer.chains.length, "chain"), chains(answer.chains)) : nothing}
    ${some(answer.passages) ? section(count(answer.passages.length, "passage"), passages(answer, places)) : nothing}
    ${picture ? section("Picture", html`<iframe title="The answer as a graph" sandbox="allow-scripts" srcdoc=${picture}></iframe>`) : nothing}
  </article>`;
}

const SOURCES = { llm: "worded by the language model", chain: "read off a chain of pairs", rule: "decided by rule", cache: "from the question cache", added: "added by hand", graph: "from the graph, by a statement of the language model" };

function summary(answer) {
  const facts = [
    answer.why ? `${answer.strategy}, as ${answer.why}` : answer.strategy,
    SOURCES[answer.answer_source],
    answer.confidence === null || !some(answer.chains) ? null : `confidence ${Math.round(100 * answer.confidence)} %`,
    `${answer.seconds.total.toFixed(2)} s`,
    answer.tokens.in + answer.tokens.out ? count(answer.tokens.in + answer.tokens.out, "token") : null,
  ];
  const [brief, full] = shortAndFull(answer);
  return html`
    ${brief ? html`<p class="answer" id="answer">${brief}</p>` : full ? nothing : html`<p class="answer none" id="answer">${answer.abstained ? "Not in the memory" : "These passages were found"}</p>`}
    ${full ? html`<div class="full">${fullText(answer)}</div>` : answer.statements.map((_, number) => html`<p>${note(answer, number)}</p>`)}
    ${answer.missing ? html`<p>${answer.abstained ? nothing : html`<strong>Missing:</strong> `}${answer.missing}</p>` : nothing}
    ${answer.note ? html`<p class="dim">${answer.note}</p>` : nothing}
    ${answer.cached ? earlier(answer.cached) : nothing}
    <p class="dim small">${facts.filter(Boolean).join(" · ")}</p>`;
}

const USED = { answer: "its answer", evidence: "what its answer cited, read again" };
const earlier = (cached) => html`<p class="dim">As asked on ${when(cached.asked_at)}: <a href=${at("questions", cached.id)}>${cached.question}</a> <strong>${cached.answer}</strong>${cached.confirmed ? " (confirmed)" : ""}; from ${USED[cached.used] || cached.used}</p>`;

const headed = (passage, heading) => {
  const titles = steps(passage);
  return heading && !titles.includes(heading) ? [...titles, heading] : titles;
};

function passages(answer, places) {
  const cited = new Set(answer.citations.map((citation) => citation.passage));
  return html`<ol class="passages">${answer.passages.map((passage) => {
    const sentences = places[passage.id] || [];
    const { heading, part, all } = excerpt(passage.text, passage.title, sentences);
    return html`<li class="passage" id=${`passage-${passage.id}`} tabindex="-1">
      <h3>${headed(passage, heading).join(" › ").replaceAll("`", "")}${cited.has(passage.id) ? html` <span class="tag">cited</span>` : nothing}</h3>
      <div class="excerpt">${part}</div>
      ${all ? nothing : html`<details class="all"><summary>Whole passage</summary>${whole(passage.text, passage.title, sentences)}</details>`}
      <p class="dim small">${sourceLink(passage.document, passage.source)}</p></li>`;
  })}</ol>`;
}

const chains = (list) => list.map((chain, number) => html`<details class="chain" ?open=${number === 0}>
  <summary>${chain.hops.map((hop) => hop.answer).join(" → ")} <span class="dim small">score ${chain.score.toFixed(3)}</span></summary>
  <ol>${chain.hops.map((hop) => html`<li>${hop.concrete_question}<br>
    <span class="dim">${hop.qa.question}</span> <strong>${hop.qa.answers.join("; ")}</strong>
    <span class="dim small">score ${hop.score.toFixed(3)}, found by ${hop.via.join(" and ")}</span></li>`)}</ol></details>`);

const conflicts = (list) => list.map((conflict) => html`<p>${conflict.question}</p><ul>${conflict.claims.map((claim) => html`<li>
  <strong>${claim.answer}</strong> <span class="dim">${claim.titles.join(", ")}</span></li>`)}</ul>`);
