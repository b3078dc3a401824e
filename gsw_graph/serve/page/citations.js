// The text of an answer in full, behind each statement the numbers of its citations. Who points at a number sees the
// place that is cited.
import { redraw } from "./draw.js";
import { laidOut } from "./layout.js";
import { html, nothing } from "./lit-html.js";
import { at, steps } from "./parts.js";

const MARKS = /^[ \n](?:\[\d+\])+/; // [1][3] as the text has them
const FENCED = /(?:```|~~~)\s*$/;
const pointed = { mark: null, place: null }; // the number that is pointed at, and the citation

function point(mark = null, place = null) {
  Object.assign(pointed, { mark, place });
  redraw();
}

addEventListener("pointerdown", (event) => { if (pointed.mark && !event.target.closest(".cite")) point(); });

// The short answer and the text in full, each empty if the other says the same.
const said = (text) => text.replace(/[ \n](?:\[\d+\])+/g, "").replace(/\s+/g, " ").trim().replace(/\.$/, "");
export function shortAndFull({ answer, text }) {
  if (said(text || "") !== said(answer || "")) return [answer, text];
  return text === answer ? [answer, ""] : ["", text];
}

export function fullText(answer) {
  let text = "", rest = answer.text.replace(/[\uE000\uE001]/g, "").trim();
  const apart = []; // of statements that the text does not have as they are
  answer.statements.forEach((statement, number) => {
    const start = rest.indexOf(statement.text), end = start + statement.text.length;
    if (start < 0) return apart.push(number);
    text += `${rest.slice(0, end)}${FENCED.test(statement.text) ? "\n" : " "}\uE000${number}\uE001`;
    rest = rest.slice(end).replace(MARKS, "");
  });
  text += rest;
  const spans = [...text.matchAll(/ ?\uE000(\d+)\uE001/g)].map((mark) => [mark.index, mark.index + mark[0].length, () => marks(answer, Number(mark[1]))]);
  return html`${laidOut(text, spans)}${apart.filter((number) => note(answer, number)).map((number) => html`<p>${answer.statements[number].text}${marks(answer, number)}</p>`)}`;
}

// What must be known of a statement; nothing of one that the citations state.
export function note(answer, number) {
  const { follows, unsupported } = answer.statements[number];
  if (!follows && !unsupported.length) return null;
  // No line break between them: the text around keeps its own.
  return html`${follows ? html` <span class="note">not stated, follows from${numbers(answer, number)}</span>` : nothing}${unsupported.length ? html` <span class="note bad">in no source: ${unsupported.join(", ")}</span>` : nothing}`;
}

const marks = (answer, number) => html`${answer.statements[number].follows ? nothing : numbers(answer, number)}${note(answer, number) || nothing}`;
const numbers = (answer, number) => answer.statements[number].citations.filter((place) => answer.citations[place]).map((place) => cite(answer.citations[place], place, `${number}-${place}`));

function cite(citation, place, mark) {
  const shown = pointed.mark === mark, title = steps(citation).join(" › ").replaceAll("`", "");
  const show = () => { if (!shown) point(mark, place); };
  const leave = (event) => { if (!event.currentTarget.contains(event.relatedTarget)) point(); };
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.currentTarget.querySelector("button").focus();
    point();
  };
  return html` <span class="cite" @pointerenter=${show} @pointerleave=${leave} @focusin=${show} @focusout=${leave} @keydown=${escape}><button
    type="button" aria-expanded=${shown} aria-label=${`Source ${place + 1}: ${title}`} @click=${show}>${place + 1}</button>${shown ? html`<span class="place">
      ${placeLink(citation, title)} <q>${citation.text}</q></span>` : nothing}</span>`;
}

// A click opens the passage, where the sentence is marked.
function placeLink(citation, title) {
  const open = (event) => {
    const passage = document.getElementById(`passage-${citation.passage}`);
    if (!passage) return; // it was not returned; the link leads to its document
    event.preventDefault();
    passage.closest("details").open = true;
    passage.focus();
    (passage.querySelector(".excerpt mark") || passage).scrollIntoView({ block: "center" });
  };
  return html`<a href=${at("documents", citation.passage)} @click=${open}>${title}</a>`;
}

export const cited = (citations) => html`<ol class="citations">${citations.map((citation, place) => html`<li class=${pointed.place === place ? "pointed" : nothing}>
  ${placeLink(citation, citation.title || steps(citation)[0])}: <q>${citation.text}</q></li>`)}</ol>`;
