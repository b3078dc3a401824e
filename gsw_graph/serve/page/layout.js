// Text of a document laid out: headings, lists, tables, quotes, code. All of it stays text, as nothing here makes
// HTML of it; blocks are places in the text, so that a sentence is marked wherever it is shown.
import { html, nothing } from "./lit-html.js";

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+/;
const ROW = /^\s*\|/;
const RULE = /^[\s|:+=-]+$/; // below the head of a table
const QUOTE = /^\s*>\s?/;
const INDENTED = /^( {4}|\t)/;
const COLUMNS = /\S {3,}\S/; // parted by spaces
const FRONT = /^(?:\w[\w .-]{0,40}: [^;\n]+(?:; \w[\w .-]{0,40}: [^;\n]+)+|[a-z][\w-]{0,40}: [^\n]+)$/; // as loaders write front matter
const NO_HEADING = /[.:;,!?…]$|: /;
const LINE = 50; // letters of a line that was wrapped; after a shorter one the line ends where the writer ended it
const WHOLE = 700; // letters of a passage that is always shown whole
const FEW = 6; // lines of a long list or table where none is marked
const AROUND = 250; // letters beside a marked sentence, of a long paragraph

function linesOf(text, from) {
  const lines = [];
  for (let start = from; start <= text.length; ) {
    const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
    lines.push({ start, end, text: text.slice(start, end) });
    start = end + 1;
  }
  return lines;
}

export function blocksOf(text, from = 0) {
  const lines = linesOf(text, from), blocks = [];
  const blank = (number) => !lines[number]?.text.trim();
  const starts = (line) => FENCE.test(line) || ROW.test(line) || ITEM.test(line) || QUOTE.test(line);
  let at = 0;
  const take = (kind, goesOn) => {
    const own = [lines[at]];
    for (at += 1; at < lines.length && goesOn(lines[at], at); at += 1) own.push(lines[at]);
    while (own.length > 1 && !own.at(-1).text.trim()) own.pop();
    const block = { kind, lines: own, start: own[0].start, end: own.at(-1).end };
    blocks.push(block);
    return block;
  };
  const inList = (next, number) => {
    if (FENCE.test(next.text)) return false;
    if (!blank(number)) return ITEM.test(next.text) || /^\s/.test(next.text) || !blank(number - 1);
    const after = lines[number + 1]?.text || "";
    return ITEM.test(after) || (/^\s+\S/.test(after) && !FENCE.test(after));
  };
  while (at < lines.length) {
    const line = lines[at].text;
    const fence = FENCE.exec(line);
    if (blank(at)) { at += 1; continue; }
    if (fence) {
      let open = true;
      const block = take("code", (next) => {
        const goes = open;
        if (next.text.trim().startsWith(fence[1]) && !next.text.trim().replaceAll(fence[1][0], "")) open = false;
        return goes;
      });
      block.about = fence[2].trim();
      block.lines = block.lines.slice(1, open ? undefined : -1);
    } else if (ROW.test(line)) take("table", (next) => ROW.test(next.text));
    else if (QUOTE.test(line)) take("quote", (next) => QUOTE.test(next.text));
    else if (ITEM.test(line)) take("list", inList);
    else if (INDENTED.test(line)) take("code", (next, number) => INDENTED.test(next.text) || (blank(number) && INDENTED.test(lines[number + 1]?.text || "")));
    else {
      const block = take("paragraph", (next, number) => !blank(number) && !starts(next.text));
      const only = block.lines.length === 1 ? line.trim() : "";
      if (!blocks[1] && FRONT.test(only)) block.kind = "front";
      else if (/^#{1,6} /.test(only)) block.kind = "heading";
      else if (only && only.length <= 80 && blank(at) && lines.slice(at).some((next) => next.text.trim()) && /^[\p{L}\d`]/u.test(only) && !NO_HEADING.test(only)) block.kind = "heading";
      else if (block.lines.filter((own) => COLUMNS.test(own.text)).length > 1) block.kind = "code";
    }
  }
  return blocks;
}

// Where the sentences stand in the text, with any white space between their words.
export function spansOf(text, sentences) {
  const spans = [];
  for (const sentence of sentences) {
    const words = sentence.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const match = words[0] ? new RegExp(words.join("\\s+")).exec(text) : null;
    if (match) spans.push([match.index, match.index + match[0].length]);
  }
  return spans.sort((one, other) => one[0] - other[0]);
}

function marked(text, start, end, spans) {
  const parts = [];
  let done = start;
  for (const [from, to, show = (part) => html`<mark>${part}</mark>`] of spans) {
    const begin = Math.max(from, done), stop = Math.min(to, end);
    if (begin >= stop) continue;
    parts.push(text.slice(done, begin), show(text.slice(begin, stop)));
    done = stop;
  }
  return [...parts, text.slice(done, end)];
}

// A piece of the text with its code and its bold words, and what is marked.
function inline(text, start, end, spans) {
  const parts = [];
  let done = start;
  for (const match of text.slice(start, end).matchAll(/(`+)([^`\n]+?)\1(?!`)|\*\*(?=\S)([^*\n]+?)\*\*/g)) {
    const from = start + match.index, to = from + match[0].length, side = match[1] ? match[1].length : 2;
    const inner = marked(text, from + side, to - side, spans);
    parts.push(...marked(text, done, from, spans), match[1] ? html`<code>${inner}</code>` : html`<strong>${inner}</strong>`);
    done = to;
  }
  return [...parts, ...marked(text, done, end, spans)];
}

// Wrapped lines become one, letter for letter, so that places in the text stay.
function joined(text) {
  return text.replace(/[^\n]*\n/g, (line) => (line.length > LINE ? `${line.slice(0, -1)} ` : line));
}

function table(text, block, spans, rows) {
  const head = block.lines[1] && RULE.test(block.lines[1].text) ? block.lines[0] : null;
  const cells = (line) => {
    const bars = [...line.text.matchAll(/(?<!\\)\|/g)].map((bar) => line.start + bar.index);
    if (!line.text.trimEnd().endsWith("|")) bars.push(line.end);
    return bars.slice(0, -1).map((bar, number) => inline(text, bar + 1, bars[number + 1], spans));
  };
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table"><table>
    ${head ? html`<thead><tr>${cells(head).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>` : nothing}
    <tbody>${rows.filter((line) => line !== head && !RULE.test(line.text)).map((line) => html`<tr>${cells(line).map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

function item(text, line, spans) {
  const marker = ITEM.exec(line.text);
  if (!marker) return html`<li class="goes-on">${inline(text, line.start, line.end, spans)}</li>`;
  const depth = Math.min(3, Math.floor(marker[1].length / 2));
  return html`<li class=${`depth-${depth}`}><span class="dim">${/\d/.test(marker[2]) ? marker[2] : "•"}</span> <span>${inline(text, line.start + marker[0].length, line.end, spans)}</span></li>`;
}

function items(lines) {
  const found = [];
  for (const line of lines) {
    if (found.length && !ITEM.test(line.text)) found[found.length - 1] = { ...found.at(-1), end: line.end };
    else found.push({ ...line });
  }
  return found;
}

const touches = ({ start, end }, spans) => spans.some(([from, to]) => from < end && to > start);

// near: only the lines that are marked, of what is long.
function laid(text, block, spans, near = false) {
  const { kind, start, end } = block;
  const close = (lines) => {
    const found = lines.filter((line) => touches(line, spans));
    return !near ? lines : found.length ? found : lines.slice(0, FEW);
  };
  if (kind === "heading") return html`<h4>${inline(text, start + /^(#{1,6} )?/.exec(text.slice(start))[0].length, end, spans)}</h4>`;
  if (kind === "code") {
    const first = near ? Math.max(0, block.lines.findIndex((line) => touches(line, spans)) - 4) : 0;
    const lines = near ? block.lines.slice(first, first + 3 * FEW) : block.lines;
    const least = Math.min(...lines.filter((line) => line.text.trim()).map((line) => /^\s*/.exec(line.text)[0].length), 40);
    return html`${/^\{/.test(block.about || "") ? html`<p class="dim small">${block.about}</p>` : nothing}
      ${lines.length ? html`<pre tabindex="0"><code>${lines.map((line) => [...marked(text, Math.min(line.start + least, line.end), line.end, spans), "\n"])}${lines.length < block.lines.length ? "…" : nothing}</code></pre>` : nothing}`;
  }
  if (kind === "table") return table(text, block, spans, close(block.lines));
  if (kind === "list") return html`<ul class="items">${close(items(block.lines)).map((line) => item(text, line, spans))}</ul>`;
  if (kind === "quote") return html`<blockquote>${block.lines.map((line) => html`<p>${inline(text, line.start + QUOTE.exec(line.text)[0].length, line.end, spans)}</p>`)}</blockquote>`;
  let from = start, to = end;
  const [span] = spans.filter(([begin, stop]) => begin < end && stop > start);
  if (near && end - start > WHOLE) {
    const [first, last] = span || [start, start];
    from = first - AROUND <= start ? start : text.indexOf(" ", first - AROUND) + 1;
    to = last + AROUND >= end ? end : text.lastIndexOf(" ", last + AROUND);
  }
  return html`<p class="text">${from > start ? "… " : nothing}${inline(text, from, to, spans)}${to < end ? " …" : nothing}</p>`;
}

function prepared(text, title) {
  const from = title && text.startsWith(`${title}\n`) ? title.length + 1 : 0;
  const blocks = blocksOf(text, from);
  let shown = text; // places are those of `text`
  for (const { kind, start, end } of blocks)
    if (kind === "paragraph") shown = shown.slice(0, start) + joined(shown.slice(start, end)) + shown.slice(end);
  return { blocks, shown };
}

export function whole(text, title = "", sentences = []) {
  const { blocks, shown } = prepared(text, title), spans = spansOf(text, sentences);
  const front = blocks.filter((block) => block.kind === "front");
  return html`<div class="laid">${blocks.filter((block) => block.kind !== "front").map((block) => laid(shown, block, spans))}
    ${front.map((block) => html`<details class="small"><summary>About this document</summary><p class="dim">${text.slice(block.start, block.end)}</p></details>`)}</div>`;
}

// A text of a language model: no front matter, and headings only as Markdown marks them. spans: places in the text, each
// with what is shown there.
export function laidOut(text, spans = []) {
  const { blocks, shown } = prepared(text);
  const plain = (block) => (/heading|front/.test(block.kind) && text[block.start] !== "#" ? { ...block, kind: "paragraph" } : block);
  return html`<div class="laid">${blocks.map((block) => laid(shown, plain(block), spans))}</div>`;
}

// The blocks with the sentences, and the heading that they stand below: what is shown of a passage at first. All of a
// short passage.
export function excerpt(text, title, sentences) {
  const { blocks, shown } = prepared(text, title), spans = spansOf(text, sentences);
  const body = blocks.filter((block) => block.kind !== "front");
  const found = body.filter((block) => block.kind !== "heading" && touches(block, spans));
  const first = found[0] || body.find((block) => block.kind !== "heading" && !/^\{/.test(block.about || "")) || body[0];
  const above = (block) => body.slice(0, body.indexOf(block)).findLast((other) => other.kind === "heading");
  const heading = found.length ? above(first) : undefined;
  const named = heading ? text.slice(heading.start, heading.end).replace(/^#{1,6} /, "") : "";
  if (text.length <= WHOLE) return { heading: named, part: whole(text, title, sentences), all: true };
  const kept = new Set(found.length ? found : [first].filter(Boolean));
  for (const block of [...kept]) {
    const next = body[body.indexOf(block) + 1];
    if (found.length && above(block) !== heading) kept.add(above(block));
    if (next && /:\s*$/.test(text.slice(block.start, block.end)) && next.kind !== "heading") kept.add(next); // what it leads to
  }
  const some = (block) => laid(shown, block, spans, block.end - block.start > WHOLE);
  return { heading: named, part: html`<div class="laid">${body.filter((block) => kept.has(block)).map(some)}</div>`, all: kept.size === body.length };
}
