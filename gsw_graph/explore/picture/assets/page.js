"use strict";
// Draws the data of the page with Cytoscape.js. Everything that a document may have written is set as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const ordered = data.columns.length > 0; // columns from left to right; else the layout is free
  // First what takes space beside the picture, so that it is fitted into what is left.
  $("title").textContent = data.title;
  $("said").textContent = data.said;
  for (const note of data.notes) $("notes").append(make("p", note));
  for (const [label, fill] of Object.entries(data.colours)) {
    const item = make("li"), dot = make("span", undefined, "dot");
    dot.style.background = fill;
    item.append(dot, label);
    $("legend").append(item);
  }
  if (!ordered) document.querySelector("main").classList.add("free");
  const FONT = ordered ? 14 : 12, LINE = FONT + 4, PAD = ordered ? 10 : 7, GAP_X = 54, GAP_Y = 18, EDGE = 24;
  const WIDTHS = { Concept: 136, Entity: 136, Passage: 170, Answer: 180 }, WIDTH = 190, FREE = 118, LINES = ordered ? 6 : 4;
  const FAMILY = getComputedStyle(document.body).fontFamily;
  const pen = document.createElement("canvas").getContext("2d");
  const by = new Map(data.nodes.map((node) => [node.id, node]));

  // Text in lines that fit a width; a word that does not is broken, what is too long ends in an ellipsis.
  function wrap(text, width, most, size) {
    pen.font = `${size}px ${FAMILY}`;
    const fits = (one) => pen.measureText(one).width <= width;
    const lines = [];
    let line = "";
    for (let word of text.split(" ")) {
      if (line && fits(`${line} ${word}`)) { line += ` ${word}`; continue; }
      if (line) lines.push(line);
      const letters = [...word];
      line = "";
      for (const letter of letters) {
        if (line && !fits(line + letter)) { lines.push(line); line = ""; }
        line += letter;
      }
      if (lines.length > most) break;
    }
    if (line) lines.push(line);
    if (lines.length <= most) return lines;
    const kept = lines.slice(0, most);
    let last = kept[most - 1];
    while (last && !fits(`${last}…`)) last = [...last].slice(0, -1).join("");
    kept[most - 1] = `${last.trimEnd()}…`;
    return kept;
  }

  function sized(node) {
    const width = ordered ? WIDTHS[node.label] || WIDTH : FREE;
    const lines = wrap(node.caption, width - (node.answer ? 3.6 : 2) * PAD, LINES, FONT); // the answer is bold
    const widest = Math.max(24, ...lines.map((line) => pen.measureText(line).width));
    return { lines: lines.join("\n"), w: ordered ? width : widest + 2 * PAD, h: lines.length * LINE + 2 * PAD };
  }

  // Columns side by side, whose boxes are as wide as the column: arrows between neighbours stay in the gap. The
  // first box of each stands on one line, so that the best chain is straight; the others hang below, a passage
  // under what it supports. Names stand level with the first thing that leads there.
  function place(boxes) {
    const heads = data.columns.map((text) => (text ? wrap(text, 200, 3, 13) : []));
    const columns = [];
    for (const node of data.nodes) (columns[node.column] ||= []).push(node);
    const positions = {}, titles = [], next = new Map(), sides = new Map();
    const supports = new Map();
    for (const edge of data.edges)
      if (by.get(edge.target).label === "Passage" && !supports.has(edge.target)) supports.set(edge.target, edge.source);
    let left = 0;
    for (let number = 0; number < columns.length; number++) {
      const nodes = columns[number] || [];
      if (!nodes.length) continue;
      const width = Math.max(...nodes.map((node) => boxes.get(node.id).w));
      sides.set(number, { left, right: left + width, taken: [], lanes: [] });
      const under = (node) => {
        const support = supports.get(node.id);
        return node.label === "Passage" && support && by.get(support).column === number ? support : null;
      };
      const stacked = nodes.filter((node) => !under(node)).flatMap((node) => [node, ...nodes.filter((one) => under(one) === node.id)]);
      stacked.forEach((node, index) => { if (index) next.set(stacked[index - 1].id, node.id); });
      const tallest = boxes.get(stacked[0].id).h;
      let below = -tallest / 2;
      for (const node of stacked) {
        const box = boxes.get(node.id);
        box.w = width;
        const source = data.edges.find((edge) => edge.target === node.id && positions[edge.source] && by.get(edge.source).column === number - 1);
        const level = source && !under(node) ? positions[source.source].y - box.h / 2 : below;
        below = Math.max(below, level);
        positions[node.id] = { x: left + width / 2, y: below + box.h / 2 };
        sides.get(number).taken.push([below, below + box.h]);
        below += box.h + GAP_Y + (under(node) ? 6 : 0);
      }
      if (heads[number] && heads[number].length)
        titles.push({ id: `head:${number}`, text: heads[number].join("\n"), x: left + width / 2, y: 0, lines: heads[number].length });
      left += width + GAP_X;
    }
    const highest = Math.min(...data.nodes.map((node) => positions[node.id].y - boxes.get(node.id).h / 2));
    for (const title of titles) title.y = highest - 16 - (title.lines * 17) / 2;
    return { positions, titles, next, sides };
  }

  // The height nearest to `wanted` at which an arrow passes a column beside its boxes and other arrows.
  function lane({ taken, lanes }, wanted) {
    const free = (y) => taken.every(([top, bottom]) => y < top - 5 || y > bottom + 5) && lanes.every((other) => Math.abs(other - y) > 3);
    const heights = [wanted, ...taken.flatMap(([, bottom]) => [6, 9, 12].map((gap) => bottom + gap))];
    for (let y = Math.max(...taken.map(([, bottom]) => bottom)) + GAP_Y; heights.length < 400; y += 4) heights.push(y);
    const nearest = heights.filter(free).sort((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted))[0] ?? wanted;
    lanes.push(nearest);
    return nearest;
  }

  // An arrow over columns passes each of them beside its boxes. Cytoscape takes the corners of such a way as shares
  // of the straight line from middle to middle, and distances from it.
  function way({ positions, sides }, from, to) {
    const step = Math.sign(to.column - from.column), start = positions[from.id], end = positions[to.id];
    const corners = [];
    for (let number = from.column + step; number !== to.column; number += step) {
      if (!sides.has(number)) continue;
      const { left, right } = sides.get(number), y = lane(sides.get(number), end.y);
      corners.push(...(step > 0 ? [{ x: left, y }, { x: right, y }] : [{ x: right, y }, { x: left, y }]));
    }
    const dx = end.x - start.x, dy = end.y - start.y, length = Math.hypot(dx, dy);
    return {
      weights: corners.map(({ x, y }) => ((x - start.x) * dx + (y - start.y) * dy) / length ** 2),
      distances: corners.map(({ x, y }) => ((y - start.y) * dx - (x - start.x) * dy) / length),
      leaves: step > 0 ? "90deg" : "270deg", arrives: step > 0 ? "270deg" : "90deg",
    };
  }

  const boxes = new Map(data.nodes.map((node) => [node.id, sized(node)]));
  const placed = ordered ? place(boxes) : null;
  const elements = data.nodes.map((node, index) => ({
    group: "nodes",
    data: { id: node.id, text: boxes.get(node.id).lines, w: boxes.get(node.id).w, h: boxes.get(node.id).h, colour: data.colours[node.label] },
    classes: [node.answer ? "answer" : "", node.faint ? "faint" : "", node.label === "Concept" || node.label === "Entity" ? "name" : ""].join(" "),
    // A free layout begins on a spiral: the same data give the same picture.
    position: placed ? placed.positions[node.id] : { x: 60 * Math.sqrt(index) * Math.cos(index * 2.4), y: 60 * Math.sqrt(index) * Math.sin(index * 2.4) },
  }));
  for (const title of placed ? placed.titles : [])
    elements.push({ group: "nodes", data: { id: title.id, text: title.text, w: 1, h: 1, colour: "#000000" }, position: { x: title.x, y: title.y }, classes: "head", selectable: false, grabbable: false });
  data.edges.forEach((edge, index) => {
    const from = by.get(edge.source), to = by.get(edge.target);
    const span = ordered ? to.column - from.column : 1;
    const kind = !ordered ? "free" : span === 0 ? (placed.next.get(edge.source) === edge.target ? "down" : "side") : "along";
    const sunk = kind === "side" && placed.positions[edge.target].y > placed.positions[edge.source].y ? "sunk" : "";
    elements.push({ group: "edges", data: { id: `edge:${index}`, source: edge.source, target: edge.target, text: edge.caption, index, ...(kind === "along" ? way(placed, from, to) : {}) }, classes: `${kind} ${Math.abs(span) > 1 ? "over" : ""} ${sunk} ${edge.faint ? "faint" : ""}` });
  });

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const style = () => [
    { selector: "node", style: {
      label: "data(text)", "text-wrap": "wrap", "text-valign": "center", "text-halign": "center", "font-family": FAMILY,
      "font-size": FONT, "line-height": 1.22, color: "#1d1f24", "background-color": "data(colour)", width: "data(w)", height: "data(h)",
      shape: "round-rectangle", "corner-radius": 9, "border-width": 1, "border-color": "#000000", "border-opacity": 0.25, "text-events": "no" } },
    { selector: "node.name", style: { "corner-radius": 22 } },
    { selector: "node.head", style: { "background-opacity": 0, "border-width": 0, color: colour("--dim"), "font-size": 13, events: "no", label: "data(text)" } },
    { selector: "node.answer", style: { "border-width": 4, "border-opacity": 1, "border-color": colour("--answer"), "font-weight": "bold" } },
    { selector: "edge", style: {
      width: 2, "line-color": colour("--edge"), "target-arrow-color": colour("--edge"), "target-arrow-shape": "triangle", "arrow-scale": 0.9,
      "curve-style": "bezier", label: ordered ? "" : "data(text)", "font-size": 11, "font-family": FAMILY, color: colour("--dim"),
      "text-background-color": colour("--back"), "text-background-opacity": 1, "text-background-padding": 2, "text-rotation": "autorotate", "min-zoomed-font-size": 7 } },
    { selector: "edge.along", style: { "curve-style": "straight", "source-endpoint": "data(leaves)", "target-endpoint": "data(arrives)" } },
    { selector: "edge.down, edge.side", style: { "line-style": "dashed", "target-arrow-shape": "none", width: 1.5 } },
    { selector: "edge.side", style: { "curve-style": "unbundled-bezier", "control-point-distances": -40, "edge-distances": "endpoints", "source-endpoint": "270deg", "target-endpoint": "270deg" } },
    { selector: "edge.over", style: { "curve-style": "round-segments", "segment-weights": "data(weights)", "segment-distances": "data(distances)", "segment-radii": 8, "edge-distances": "node-position" } },
    { selector: "edge.sunk", style: { "control-point-distances": 40 } },
    { selector: "node.faint", style: { "background-opacity": 0.35, color: colour("--ink") } },
    { selector: "edge.faint", style: { opacity: 0.5 } },
    { selector: ".seen", style: { opacity: 1 } },
    { selector: "edge.seen", style: { width: 4, "line-color": colour("--seen"), "target-arrow-color": colour("--seen") } },
    { selector: "node.seen", style: { "underlay-color": colour("--seen"), "underlay-opacity": 0.35, "underlay-padding": 7 } },
  ];
  const cy = cytoscape({ container: $("picture"), elements, style: style(), layout: { name: "preset" }, minZoom: 0.05, maxZoom: 4, autounselectify: true, boxSelectionEnabled: false });
  if (!ordered)
    cy.layout({ name: "cose", animate: false, randomize: false, fit: false, nodeRepulsion: () => 30000, idealEdgeLength: () => 45, nodeOverlap: 40, componentSpacing: 50, gravity: 0.6, numIter: data.nodes.length > 150 ? 300 : 1000 }).run();

  // A free layout leaves boxes on one another: push them apart, each pair along the shorter way.
  function part(most) {
    const all = cy.nodes().map((node) => ({ node, x: node.position("x"), y: node.position("y"), w: node.data("w") / 2 + 6, h: node.data("h") / 2 + 6 }));
    for (let round = 0, moved = true; moved && round < most; round++) {
      moved = false;
      for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) {
        const a = all[i], b = all[j], dx = a.w + b.w - Math.abs(a.x - b.x), dy = a.h + b.h - Math.abs(a.y - b.y);
        if (dx <= 0.1 || dy <= 0.1) continue;
        const axis = dx < dy ? "x" : "y", push = (Math.min(dx, dy) / 2) * (a[axis] < b[axis] ? -1 : 1);
        a[axis] += push; b[axis] -= push; moved = true;
      }
    }
    cy.batch(() => all.forEach(({ node, x, y }) => node.position({ x, y })));
  }
  if (!ordered) part(100);

  // At first all of it, if that can be read; else the beginning at a size that can, and the page grows downwards. Of
  // columns the words stand below a wide picture and beside a tall one.
  function show() {
    const stage = $("picture"), main = document.querySelector("main");
    const all = cy.elements().boundingBox(), fitting = () => Math.min((stage.clientWidth - 2 * EDGE) / all.w, (stage.clientHeight - 2 * EDGE) / all.h);
    stage.style.minHeight = "";
    if (ordered) {
      const zooms = [false, true].map((beside) => { main.classList.toggle("free", beside); return fitting(); });
      main.classList.toggle("free", zooms[1] > zooms[0]);
    }
    const zoom = Math.min(1.25, Math.max(fitting(), ordered ? 0.72 : 0.6));
    if (ordered) stage.style.minHeight = `${Math.ceil(all.h * zoom + 2 * EDGE)}px`;
    cy.resize();
    cy.zoom(zoom);
    const wide = all.w * zoom > cy.width() - EDGE;
    cy.center(ordered ? undefined : cy.nodes().max((node) => node.degree()).ele);
    if (fitting() >= zoom) cy.center();
    if (ordered && wide) cy.pan({ x: EDGE - all.x1 * zoom, y: cy.pan().y });
  }
  show();

  // Words beside the picture.
  function marked(element, text, quotes) {
    const spans = [];
    for (const quote of quotes) {
      const at = quote.trim() ? text.indexOf(quote.trim()) : -1;
      if (at >= 0) spans.push([at, at + quote.trim().length]);
    }
    spans.sort((one, other) => one[0] - other[0]);
    let done = 0;
    for (const [begin, end] of spans) {
      if (end <= done) continue;
      element.append(text.slice(done, Math.max(begin, done)), make("mark", text.slice(Math.max(begin, done), end)));
      done = end;
    }
    element.append(text.slice(done));
    return element;
  }

  function tell(kind, head, lines, behind) {
    const details = $("details");
    details.replaceChildren(make("div", kind, "kind"), make("h2", head));
    if (lines.length) {
      const list = make("dl");
      for (const [name, text] of lines) list.append(make("dt", name), make("dd", text));
      details.append(list);
    }
    for (const [id, sentences] of Object.entries(behind)) {
      const passage = data.passages[id];
      if (!passage) continue;
      const quotes = sentences.length ? sentences : passage.quotes;
      details.append(make("h3", passage.title), make("div", passage.source, "source"), marked(make("p", undefined, "text"), passage.text, quotes));
    }
    details.scrollTop = 0;
  }

  function see(elements) {
    cy.elements().removeClass("seen");
    elements.addClass("seen");
    for (const button of $("list").querySelectorAll("button")) button.setAttribute("aria-current", String(elements.some((one) => one.id() === button.dataset.node)));
  }
  function seeNode(id) {
    const node = by.get(id);
    see(cy.getElementById(id));
    tell(node.label, node.caption, node.lines, node.behind);
  }
  function seeEdge(index) {
    const edge = data.edges[index];
    see(cy.getElementById(`edge:${index}`));
    tell(edge.caption || "leads to", `${by.get(edge.source).caption} → ${by.get(edge.target).caption}`, [], edge.behind);
  }
  cy.on("tap", "node", (event) => { if (by.has(event.target.id())) seeNode(event.target.id()); });
  cy.on("tap", "edge", (event) => seeEdge(event.target.data("index")));

  const hover = $("hover");
  cy.on("mouseover", "node, edge", (event) => {
    const edge = event.target.isEdge() ? data.edges[event.target.data("index")] : null;
    const drawn = edge || by.get(event.target.id());
    if (!drawn) return;
    const quoted = Object.entries(drawn.behind).filter(([id]) => data.passages[id]).slice(0, 2).map(([id, sentences]) => {
      const { title, text, quotes } = data.passages[id];
      const said = sentences[0] || quotes[0] || text;
      return `${title}: “${said.length > 260 ? `${said.slice(0, 259)}…` : said}”`;
    });
    hover.textContent = [edge ? edge.caption : drawn.caption, ...quoted].filter(Boolean).join("\n\n");
    hover.hidden = !hover.textContent;
    $("picture").style.cursor = "pointer";
  });
  cy.on("mousemove", (event) => {
    const { x, y } = event.renderedPosition;
    hover.style.left = `${Math.max(0, Math.min(x + 14, cy.width() - hover.offsetWidth - 8))}px`;
    hover.style.top = `${y + 18 + hover.offsetHeight < cy.height() ? y + 18 : Math.max(0, y - hover.offsetHeight - 12)}px`;
  });
  cy.on("mouseout viewport", () => { hover.hidden = true; $("picture").style.cursor = ""; });

  let column = null;
  const inOrder = ordered ? [...data.nodes].sort((one, other) => one.column - other.column) : data.nodes;
  for (const node of inOrder) {
    if (ordered && node.column !== column && data.columns[node.column]) $("list").append(make("h2", data.columns[node.column]));
    column = node.column;
    const button = make("button"), dot = make("i", undefined, "dot");
    dot.style.background = data.colours[node.label];
    button.dataset.node = node.id;
    button.title = node.caption;
    button.append(dot, make("span", node.caption));
    button.addEventListener("click", () => { seeNode(node.id); const one = cy.getElementById(node.id), box = one.renderedBoundingBox(); if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) cy.center(one); });
    $("list").append(button);
  }
  const first = data.nodes.find((node) => node.answer) || data.nodes.find((node) => node.label === "Passage") || data.nodes[0];
  if (first) seeNode(first.id);

  $("whole").addEventListener("click", () => cy.fit(undefined, EDGE));
  // The wheel moves the page, which may be longer than the window; with Ctrl it zooms.
  $("stage").addEventListener("wheel", (event) => { if (!event.ctrlKey) event.stopPropagation(); }, { capture: true });
  const zoom = (by) => cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  $("nearer").addEventListener("click", () => zoom(1.25));
  $("farther").addEventListener("click", () => zoom(0.8));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style()));
  let resizing;
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { cy.resize(); show(); }, 100); });
  window.gswgraph = { cy }; // for whoever looks at the picture from a console, and for its test
})();
