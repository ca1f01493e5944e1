"use strict";
(() => {
const page = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");
const narrow = matchMedia("(max-width: 640px)");
// Charts are drawn again when the width changes.
const drawings = [];

// Every text reaches the page as a text node or an attribute, so that none is read as HTML.
const maker = (create) => (tag, attributes = {}, ...children) => {
  const node = create(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};
const el = maker((tag) => document.createElement(tag));
const svg = maker((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));

const fixed = (value, places = 3) => value === null ? "–" : value.toFixed(places).replace("-", "−");
const signed = (value, places = 3) => value === null ? "–" : (value > 0 ? "+" : value < 0 ? "" : "±") + fixed(value, places);
const pValue = (p) => p === null ? "p unknown" : p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
const short = (text, most = 28) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const bdi = (text) => el("bdi", {}, text);
const system = (number) => page.systems[number];
const named = (number) => el("bdi", { title: system(number) }, short(system(number)));
// So many systems have a colour and a dash of their own.
const LOOKS = 18;
const look = (number) => number < LOOKS ? `c${number % 6} d${(number + Math.floor(number / 6)) % 6}` : "rest";
const clear = (node) => { node.textContent = ""; return node; };

// A table keeps its roles where a narrow page shows its cells below one another.
const row = (...cells) => el("tr", { role: "row" }, ...cells);
const head = (...labels) => el("thead", { role: "rowgroup" }, row(...labels));
const headCell = (label, numeric) => el("th", { scope: "col", role: "columnheader", class: numeric ? "number" : null }, bdi(label));
const table = (kind, thead, rows) => el("table", { class: kind, role: "table" }, thead, el("tbody", { role: "rowgroup" }, ...rows));
const rowHead = (attributes, ...content) => el("th", { scope: "row", role: "rowheader", ...attributes }, ...content);

function results(box, part) {
  const bars = part.metrics.map((_, place) => {
    const ends = part.rows.flatMap((line) => line.cells[place].ends).filter((value) => value !== null);
    const low = Math.min(...ends), span = Math.max(...ends) - low || 1;
    return (value) => 2 + 96 * (value - low) / span;
  });
  const cell = (facts, place) => {
    const [estimate, low, high] = facts.ends;
    const x = bars[place];
    const bar = estimate === null || low === null || high === null ? null
      : svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("rect", { class: "track", width: 100, height: 10 }),
        svg("rect", { class: "range", x: x(low), width: Math.max(0.5, x(high) - x(low)), y: 4, height: 2 }),
        svg("rect", { class: "range", x: x(estimate) - 0.8, width: 1.6, height: 10 }));
    return el("td", { role: "cell", "data-head": part.metrics[place], class: facts.best ? "best" : null },
      el("div", {}, el("b", {}, facts.text), facts.best ? el("span", { class: "hidden" }, " (best) ") : null,
        facts.marks ? el("sup", {}, facts.marks) : null, el("small", {}, facts.interval),
        facts.ties ? el("small", { class: "ties" }, `ties: ${facts.ties}`) : null, bar));
  };
  const line = (facts) => row(rowHead({}, facts.key ? el("span", { class: "key" }, facts.key) : null, named(facts.system)), ...facts.cells.map(cell));
  const rows = [...part.rows], total = rows.length, names = new Intl.Collator("en", { numeric: true });
  let shown = total > 60 ? 30 : total, by = 0, sign = -1;
  const whole = table("results stacked", head(...[part.of, ...part.metrics].map((label, place) => {
    const heading = headCell("");
    heading.append(el("button", { type: "button", click: () => { sign = by === place ? -sign : place ? -1 : 1; by = place; fill(); } }, bdi(label)));
    return heading;
  })), []);
  // Systems without a value stand last in both directions.
  const estimate = (facts) => facts.cells[by - 1].ends[0] ?? -sign * Infinity;
  function fill() {
    rows.sort((p, q) => sign * (by ? estimate(p) - estimate(q) || 0 : names.compare(system(p.system), system(q.system))) || p.system - q.system);
    clear(whole.lastChild).append(...rows.slice(0, shown).map(line));
    [...whole.querySelectorAll("thead th")].forEach((heading, place) => heading.setAttribute("aria-sort", place !== by ? "none" : sign > 0 ? "ascending" : "descending"));
  }
  by = 1;
  fill();
  const all = el("button", { type: "button", class: "more", click: () => {
    const first = shown;
    shown = total;
    fill();
    const next = whole.lastChild.rows[first].firstChild;
    next.tabIndex = -1;
    next.focus();
    all.remove();
  } }, `Show all ${total.toLocaleString("en")}`);
  box.append(whole, el("div", { class: "controls" }, shown < total ? all : null, ...copiers(box, part.copies)));
}

// Where the clipboard is not to be had, the text is shown and selected.
function copiers(box, copies) {
  return Object.entries(copies).map(([kind, text]) => {
    const area = el("textarea", { readonly: "", rows: 8, "aria-label": `The table as ${kind}` });
    area.value = text;
    const button = el("button", { type: "button", click: () => {
      const show = () => { box.append(area); area.select(); };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { button.textContent = `Copied ${kind}`; }, show);
      else show();
    } }, `Copy as ${kind}`);
    return button;
  });
}

// On how many queries a system is better than the other of a pair, equal, and worse.
const counted = (pair, a) => pair[0] === a ? [pair[6], pair[7], pair[8]] : [pair[8], pair[7], pair[6]];

function matrix(box, part) {
  const explored = page.sections.some((other) => other.kind === "queries");
  const place = el("div", { class: "scroll bounded", tabindex: 0, role: "region", "aria-label": "Comparison of all pairs", keydown: moved });
  const cell = (facts, pairs, lim, a, b) => {
    if (a === b) return el("td", { class: "self", role: "cell" }, el("span", {}, fixed(facts.means[a])));
    const same = pairs.get(`${a} ${b}`);
    const pair = same || pairs.get(`${b} ${a}`);
    if (!pair) return el("td", { role: "cell" }, "–");
    const sign = same ? 1 : -1;
    const turn = (value) => value === null ? null : sign * value;
    const difference = turn(pair[2]), [low, high] = same ? [pair[3], pair[4]] : [turn(pair[4]), turn(pair[3])];
    const apart = pair[5] !== null && pair[5] <= part.alpha && difference !== 0;
    const [wins, equal, losses] = counted(pair, a);
    const counts = wins === null ? "" : `; better on ${wins}, equal on ${equal}, worse on ${losses}`;
    const label = `${system(a)} minus ${system(b)}: ${signed(difference)}, ${signed(low)} to ${signed(high)}, ${pValue(pair[5])}${counts}`;
    const content = [el("b", {}, signed(difference)), el("small", {}, `[${signed(low)}, ${signed(high)}]`), el("small", {}, pValue(pair[5]))];
    const inner = explored
      ? el("button", { type: "button", tabindex: -1, title: label, "aria-label": `${label}. Show the queries.`, click: () => explore(a, b, facts.metric) }, ...content)
      : el("span", { title: label }, ...content);
    const node = el("td", { role: "cell", class: !apart ? "alike" : difference > 0 ? "better" : "worse" }, inner);
    node.style.setProperty("--share", `${12 + 36 * Math.abs(difference) / lim}%`);
    return node;
  };
  choice(box, part.metrics.map((facts) => facts.metric), "metric of the comparison", (number) => {
    const facts = part.metrics[number];
    const pairs = new Map(facts.pairs.map((pair) => [`${pair[0]} ${pair[1]}`, pair]));
    const lim = Math.max(...facts.pairs.map((pair) => Math.abs(pair[2]))) || 1;
    clear(place).append(table("matrix", head(el("td", {}), ...facts.order.map((b) => el("th", { scope: "col", role: "columnheader" }, named(b)))),
      facts.order.map((a) => row(rowHead({}, named(a)), ...facts.order.map((b) => cell(facts, pairs, lim, a, b))))));
    const entry = place.querySelector("tbody button");
    if (entry) entry.tabIndex = 0;
  });
  box.append(place);
}

// The Tab key reaches one cell of a matrix, and the arrows reach the others.
function moved(event) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const from = event.target.closest("td"), body = event.currentTarget.querySelector("tbody");
  if (!step || !from) return;
  event.preventDefault();
  let y = from.parentNode.sectionRowIndex + step[0], x = from.cellIndex + step[1], button = null;
  // The diagonal has no button, and of two systems the mirrored cell is behind it.
  const overDiagonal = x === y + 1;
  while (!(button = body.rows[y]?.cells[x]?.querySelector("button")) && body.rows[y]?.cells[x]?.tagName === "TD") { y += step[0]; x += step[1]; }
  if (body.rows.length === 2 && overDiagonal) button ??= body.rows[from.cellIndex - 1].cells[from.parentNode.sectionRowIndex + 1].querySelector("button");
  if (!button) return;
  event.target.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

// A row of buttons of which one is pressed.
function choice(box, labels, name, chosen) {
  const buttons = labels.map((label, number) => el("button", { type: "button", click: () => press(number) }, bdi(label)));
  const press = (number) => { buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === number)); chosen(number); };
  if (labels.length > 1) box.append(el("div", { class: "controls", role: "group", "aria-label": name }, ...buttons));
  press(0);
  return press;
}

function ticks(low, high) {
  const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-6; k++) values.push(k * step);
  return values.map((value) => [value, value.toFixed(Math.min(places, 8)).replace("-", "−")]);
}

// Intervals of more than three lines hide one another, so that a key shows or hides those of its line.
function charts(box, part) {
  const first = part.charts[0];
  if (!first) return;
  const around = first.lines.some((line) => line.band || line.low);
  const wanted = new Set(first.lines.map((_, number) => number).slice(0, first.lines.length > 3 ? 2 : 3));
  const key = (line, number) => {
    const content = [svg("svg", { width: 30, height: 12, "aria-hidden": "true" }, svg("path", { d: "M0 6H30", class: `line ${classOf(line, number)}` })), bdi(short(line.name || system(line.system)))];
    if (!around) return el("li", {}, ...content);
    const button = el("button", { type: "button", "aria-pressed": String(wanted.has(number)), click: () => {
      if (!wanted.delete(number)) wanted.add(number);
      button.setAttribute("aria-pressed", wanted.has(number));
      draws.forEach((draw) => draw());
    } }, ...content);
    return el("li", {}, button);
  };
  const count = part.charts.length;
  const grid = el("div", { class: `charts ${count > 2 ? "many" : count === 1 ? "single" : ""}` });
  const keys = first.lines.map(key), rest = keys.splice(LOOKS);
  const list = (items) => el("ul", { class: "keys", "aria-label": around ? "Show or hide intervals" : "Lines" }, ...items);
  box.append(list(keys), ...(rest.length ? [el("details", {}, el("summary", {}, `${rest.length} more, in grey`), list(rest))] : []), grid);
  const draws = part.charts.map((chart) => {
    const holder = el("div", {}), reading = el("p", { class: "reading", "aria-hidden": "true" });
    grid.append(el("div", {}, chart.title ? el("h3", {}, bdi(chart.title)) : null, holder, reading));
    return () => clear(holder).append(drawn(chart, holder.clientWidth, reading, wanted));
  });
  drawings.push(...draws);
}

const classOf = (line, number) => line.name ? `c${number} d${number}` : look(line.system);

// The values at which a line stands, as the alternative text tells them.
function told(chart) {
  return chart.lines.slice(0, LOOKS).map((line) => {
    const at = [0.1, 0.5, 0.9].map((share) => Math.round(share * (line.x.length - 1)));
    return `${line.name || system(line.system)}: ` + at.map((k) => `${fixed(line.x[k], 2)} to ${fixed(line.y[k], 2)}`).join(", ");
  }).join("; ") + (chart.lines.length > LOOKS ? `; and ${chart.lines.length - LOOKS} more` : "");
}

function drawn(chart, width, reading, wanted) {
  const height = Math.min(Math.max(width * 0.8, 200), chart.bars ? 220 : 400);
  const [left, right, top, bottom] = [52, 14, 10, 42];
  const [x0, x1, y0, y1] = chart.domain;
  const x = (value) => left + (value - x0) / (x1 - x0 || 1) * (width - left - right);
  const y = (value) => height - bottom - (value - y0) / (y1 - y0 || 1) * (height - bottom - top);
  const root = svg("svg", { width, height, role: "img", "aria-label": `${chart.title} ${chart.y} by ${chart.x}. ${told(chart)}` });
  for (const [value, label] of ticks(y0, y1)) {
    root.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: left - 7, y: y(value) + 4, class: "tick", "text-anchor": "end" }, label));
  }
  for (const [value, label] of ticks(x0, x1)) root.append(svg("text", { x: x(value), y: height - bottom + 18, class: "tick", "text-anchor": "middle" }, label));
  root.append(svg("text", { x: (left + width - right) / 2, y: height - 5, class: "axis", "text-anchor": "middle" }, chart.x),
    svg("text", { x: 13, y: (height - bottom) / 2, class: "axis", "text-anchor": "middle", transform: `rotate(-90 13 ${(height - bottom) / 2})` }, chart.y));
  if (chart.diagonal) root.append(svg("path", { d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}`, class: "guide" }));
  if (chart.level) root.append(svg("path", { d: `M${x(x0)} ${y(chart.level)}H${x(x1)}`, class: "guide" }));
  const points = (xs, ys) => xs.map((value, k) => [value, ys[k]]).filter(([a, b]) => a !== null && b !== null).map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`);
  chart.lines.forEach((line, number) => {
    if (!wanted.has(number)) return;
    const edges = line.band || (line.low ? [line.x, line.low, line.x, line.high] : null);
    if (edges) root.append(svg("path", { class: `area ${classOf(line, number)}`, d: `M${[...points(edges[0], edges[1]), ...points(edges[2], edges[3]).reverse()].join("L")}Z` }));
  });
  // The first lines are drawn last, and lie above the others.
  [...chart.lines.entries()].reverse().forEach(([number, line]) => {
    let path = "M" + points(line.x, line.y).join("L");
    if (chart.steps) path = line.x.map((value, k) => (k ? `V${y(line.y[k]).toFixed(1)}H${x(value).toFixed(1)}` : `M${x(0)} ${y(line.y[0]).toFixed(1)}H${x(value).toFixed(1)}`)).join("");
    if (chart.bars) path = line.x.map((value, k) => (k ? `H${x(value).toFixed(1)}V${y(line.y[k]).toFixed(1)}` : `M${x(value).toFixed(1)} ${y(0)}V${y(line.y[0]).toFixed(1)}`)).join("") + `V${y(0)}`;
    if (chart.bars) root.append(svg("path", { d: path + "Z", class: `area ${classOf(line, number)}` }));
    root.append(svg("path", { d: path, class: `line ${classOf(line, number)}` }));
    if (line.low && classOf(line, number) !== "rest") line.x.forEach((value, k) => line.y[k] !== null && root.append(svg("circle", { cx: x(value), cy: y(line.y[k]), r: 3.2, class: `point ${classOf(line, number)}` })));
  });
  const mark = svg("circle", { r: 5, visibility: "hidden", class: "point" });
  root.append(mark);
  root.addEventListener("pointermove", (event) => {
    const area = root.getBoundingClientRect(), near = { distance: Infinity };
    chart.lines.forEach((line, number) => line.x.forEach((value, k) => {
      if (line.y[k] === null) return;
      const distance = Math.hypot(x(value) - event.clientX + area.left, y(line.y[k]) - event.clientY + area.top);
      if (distance < near.distance) Object.assign(near, { distance, line, k, number });
    }));
    if (!near.line) return;
    const { line, k, number } = near;
    mark.setAttribute("cx", x(line.x[k])); mark.setAttribute("cy", y(line.y[k]));
    mark.setAttribute("visibility", "visible"); mark.setAttribute("class", `point ${classOf(line, number)}`);
    const threshold = line.thresholds ? line.thresholds[k] : undefined;
    const ends = line.low && line.low[k] !== null ? ` [${fixed(line.low[k])}, ${fixed(line.high[k])}]` : "";
    reading.textContent = `${short(line.name || system(line.system))}: ${chart.x} ${fixed(line.x[k])}, ${chart.y} ${fixed(line.y[k])}${ends}`
      + (threshold === undefined || threshold === null ? "" : `, threshold ${threshold.toPrecision(4)}`);
  });
  root.addEventListener("pointerleave", () => { mark.setAttribute("visibility", "hidden"); reading.textContent = ""; });
  return root;
}

// What the matrix calls to show the queries of a pair.
let explore = () => {};

function queries(box, part) {
  const state = { metric: 0, a: 0, b: part.systems.length > 1 ? 1 : 0, key: "difference", sign: -1, rows: 25, open: null, text: "" };
  const texts = part.documents ? new Map(part.documents) : new Map();
  const paired = part.systems.length > 1;
  const value = (place, query) => part.values[state.metric][place][query];
  const difference = (query) => {
    const [a, b] = [value(state.a, query), value(state.b, query)];
    return a === null || b === null ? null : paired ? a - b : a;
  };
  const name = (place) => system(part.systems[place]);
  const select = (key, label) => el("label", {}, label, el("select", { change: (event) => { state[key] = +event.target.value; update(); } },
    ...part.systems.map((number, place) => el("option", { value: place }, short(system(number), 40)))));
  const [first, second] = [select("a", "compare"), select("b", "with")];
  const search = el("input", { type: "search", placeholder: "find a query", "aria-label": "Find a query", input: (event) => { state.text = event.target.value.trim().toLowerCase(); state.rows = 25; fill(); } });
  const press = choice(box, part.metrics, "metric of the queries", (number) => { state.metric = number; if (box.isConnected) update(); });
  box.append(el("div", { class: "controls" }, ...(paired ? [first, second] : []), search));
  const tally = el("p", { class: "note", "aria-live": "polite" }), picture = el("div", {}), reading = el("p", { class: "reading", "aria-hidden": "true" });
  const thead = el("thead"), tbody = el("tbody"), count = el("p", { class: "note", "aria-live": "polite" });
  const more = el("button", { type: "button", class: "more", click: () => { state.rows += 100; fill(); } }, "Show 100 more");
  box.append(tally, picture, reading, el("table", { class: "queries" }, el("caption", { class: "hidden" }, "Values of each query"), thead, tbody), count, more);

  const columns = () => {
    const others = part.systems.map((_, place) => place).filter((place) => place !== state.a && place !== state.b);
    return [...new Set([state.a, state.b]), ...(narrow.matches ? [] : others)].slice(0, 6);
  };
  function sorted() {
    const nothing = (number) => number === null ? -Infinity : number;
    const order = new Intl.Collator("en", { numeric: true });
    const key = state.key === "query" ? null : state.key === "difference" ? difference : (query) => value(state.key, query);
    const found = part.ids.map((_, query) => query).filter((query) => !state.text || part.ids[query].toLowerCase().includes(state.text) || (part.texts && part.texts[query].toLowerCase().includes(state.text)));
    const keys = key ? new Map(found.map((query) => [query, nothing(key(query))])) : null;
    return found.sort((p, q) => state.sign * (keys ? keys.get(p) - keys.get(q) || 0 : order.compare(part.ids[p], part.ids[q])) || p - q);
  }
  function sorter(key, label, numeric) {
    const sort = state.key === key ? (state.sign > 0 ? "ascending" : "descending") : "none";
    return el("th", { scope: "col", class: numeric ? "number" : null, "aria-sort": sort }, el("button", { type: "button", "data-key": key, click: () => {
      state.sign = state.key === key ? -state.sign : key === "query" ? 1 : -1;
      state.key = key;
      fill();
      [...thead.querySelectorAll("button")].find((button) => button.dataset.key === String(key)).focus();
    } }, ...(Array.isArray(label) ? label : [label])));
  }
  function fill() {
    const shown = columns(), list = sorted();
    clear(thead).append(el("tr", {}, sorter("query", "query"), ...shown.map((place) => sorter(place, bdi(short(name(place), 20)), true)),
      ...(paired ? [sorter("difference", narrow.matches ? ["diff", el("span", { class: "hidden" }, "erence")] : [bdi(short(name(state.a), 20)), " − ", bdi(short(name(state.b), 20))], true)] : [])));
    clear(tbody).append(...list.slice(0, state.rows).flatMap((query) => lines(query, shown)));
    count.textContent = `${Math.min(state.rows, list.length).toLocaleString("en")} of ${list.length.toLocaleString("en")} queries`;
    more.hidden = state.rows >= list.length;
  }
  function lines(query, shown) {
    const open = state.open === query;
    const button = el("button", { type: "button", "aria-expanded": String(open), click: (event) => { event.stopPropagation(); toggle(query, true); } }, bdi(part.ids[query]));
    const line = el("tr", { class: open ? "open" : null, "data-query": query, click: () => toggle(query, false) },
      el("th", { scope: "row" }, part.rankings ? button : bdi(part.ids[query]), part.texts && part.texts[query] ? el("small", {}, " ", bdi(part.texts[query])) : null),
      ...shown.map((place) => el("td", { class: "number" }, fixed(value(place, query)))),
      ...(paired ? [el("td", { class: "number difference" }, signed(difference(query)))] : []));
    return open && part.rankings ? [line, el("tr", { class: "detail" }, el("td", { colspan: shown.length + 2 }, ...detail(query)))] : [line];
  }
  function toggle(query, focus) {
    if (!part.rankings) return;
    state.open = state.open === query ? null : query;
    fill(); mark();
    if (focus) tbody.querySelector(`[data-query="${query}"] button`).focus();
  }
  function detail(query) {
    const ranking = part.rankings[query];
    if (!ranking) return [el("p", { class: "note" }, "The rankings of this query were left out for their size.")];
    const [items, grades, lists] = ranking;
    const entry = (item) => {
      const given = item < grades.length ? grades[item] : null;
      const [grade, relevant] = Array.isArray(given) ? given : [given, given > 0];
      const text = texts.get(items[item]);
      return el("li", { class: relevant ? "relevant" : null, "data-item": item }, el("span", {}, bdi(items[item])),
        el("i", { title: grade === null ? "not judged" : `grade ${grade}` }, grade === null ? "?" : relevant ? String(grade) : ""),
        relevant ? el("span", { class: "hidden" }, "relevant") : null, text ? el("small", {}, bdi(text)) : null);
    };
    return [el("p", { class: "note" }, `${part.relevant[query].toLocaleString("en")} relevant; the first ${part.depth} of each ranking. Filled: relevant, with its grade; ?: not judged.`),
      el("div", { class: "rankings", pointerover: same, pointerleave: same }, ...columns().map((place) => el("div", {}, el("h3", {}, bdi(short(name(place))), " ", el("small", {}, `${part.metrics[state.metric]} ${fixed(value(place, query))}`)),
        el("ol", {}, ...lists[place].map(entry)))))];
  }
  // The document under the pointer is marked in all rankings.
  function same(event) {
    const item = event.target.closest("li")?.dataset.item;
    for (const entry of event.currentTarget.querySelectorAll("li")) entry.classList.toggle("same", entry.dataset.item === item);
  }
  let mark = () => {};
  function differences() {
    clear(picture);
    if (!paired) return;
    const list = part.ids.map((_, query) => query).filter((query) => difference(query) !== null).sort((p, q) => difference(q) - difference(p) || p - q);
    if (!list.length) return;
    const values = list.map(difference), width = picture.clientWidth, height = 190, n = list.length;
    const up = Math.max(values[0], 0), down = Math.min(values[n - 1], 0);
    const x = (k) => k * width / n, y = (number) => 8 + (up - number) / (up - down || 1) * (height - 16);
    const better = values.filter((number) => number > 1e-9).length, worse = values.filter((number) => number < -1e-9).length;
    const mean = values.reduce((sum, number) => sum + number, 0) / n;
    // The values of the page are rounded; those that were compared are not.
    const [a, b] = [part.systems[state.a], part.systems[state.b]];
    const compared = page.sections.filter((other) => other.kind === "matrix").flatMap((other) => other.metrics)
      .filter((facts) => facts.metric === part.metrics[state.metric]).flatMap((facts) => facts.pairs)
      .find((pair) => pair[6] !== null && (pair[0] === a && pair[1] === b || pair[0] === b && pair[1] === a));
    const [wins, equal, losses] = compared ? counted(compared, a) : [better, n - better - worse, worse];
    const said = `${name(state.a)} better on ${wins}, equal on ${equal}, worse on ${losses} of ${n} queries than ${name(state.b)}; mean difference ${signed(mean)}.`;
    const gap = width / n > 4 ? 1 : 0, axis = ticks(down, up).flatMap(([number, label]) => [
      svg("line", { x1: 0, x2: width, y1: y(number), y2: y(number), class: "grid" }), svg("text", { x: number < 0 ? 2 : width - 2, y: Math.max(12, y(number) - 3), class: "tick", "text-anchor": number < 0 ? "start" : "end" }, label)]);
    const bars = (from, to) => list.slice(from, to).map((_, k) => `M${x(from + k).toFixed(2)} ${y(0).toFixed(1)}V${y(values[from + k]).toFixed(1)}H${(x(from + k + 1) - gap).toFixed(2)}V${y(0).toFixed(1)}Z`).join("");
    const at = svg("path", { class: "at", d: "" });
    const root = svg("svg", { class: "differences", width, height, role: "img", "aria-label": said },
      svg("path", { class: "up", d: bars(0, better) }), svg("path", { class: "down", d: bars(n - worse, n) }),
      ...axis, at);
    const under = (event) => Math.min(n - 1, Math.max(0, Math.floor((event.clientX - root.getBoundingClientRect().left) / width * n)));
    root.addEventListener("pointermove", (event) => { const k = under(event); reading.textContent = `query ${short(part.ids[list[k]])}: ${signed(values[k])}`; });
    root.addEventListener("pointerleave", () => { reading.textContent = ""; });
    root.addEventListener("click", (event) => {
      const k = under(event);
      Object.assign(state, { key: "difference", sign: -1, text: "", open: list[k], rows: Math.max(state.rows, k + 1) });
      search.value = "";
      fill(); mark();
      const line = tbody.querySelector(`[data-query="${list[k]}"]`);
      if (line) line.scrollIntoView({ block: "center" });
    });
    mark = () => { const k = list.indexOf(state.open); at.setAttribute("d", state.open === null || k < 0 ? "" : `M${x(k + 0.5)} 0V${height}`); };
    tally.textContent = said;
    picture.append(root);
    mark();
  }
  function update() {
    first.lastChild.value = state.a; second.lastChild.value = state.b;
    differences(); fill();
  }
  explore = (a, b, metric) => {
    const [p, q] = [part.systems.indexOf(a), part.systems.indexOf(b)];
    if (p < 0 || q < 0) return;
    Object.assign(state, { a: p, b: q, key: "difference", sign: -1, open: null });
    press(part.metrics.indexOf(metric));
    const title = box.querySelector("h2");
    title.focus({ preventScroll: true });
    title.scrollIntoView();
  };
  drawings.push(update);
}

function plainTable(box, part) {
  const numeric = new Set(part.numbers);
  const cell = (text, place) => place === 0 ? rowHead({}, bdi(text)) : el("td", { role: "cell", "data-head": part.head[place], class: numeric.has(place) ? "number" : null }, bdi(text));
  const kind = `plain stacked ${part.choose ? "cards" : ""}`;
  const line = (cells) => { const made = row(...cells.map(cell)); if (part.id === "checks") made.classList.add(`severity-${cells[0]}`); return made; };
  const place = el("div", { class: "scroll" });
  const fill = (rows) => clear(place).append(table(kind, head(...part.head.map((label, number) => headCell(label, numeric.has(number)))), rows.map(line)));
  const groups = part.choose ? [...new Set(part.rows.map((cells) => cells[0]))] : [];
  if (groups.length > 1) choice(box, groups, part.head[0], (number) => fill(part.rows.filter((cells) => cells[0] === groups[number])));
  else fill(part.rows);
  box.append(place);
}

const kinds = { results, matrix, charts, queries, table: plainTable };
clear(main).append(el("h1", {}, bdi(page.title)), el("p", { class: "lead" }, page.sentence));
document.querySelector("nav").append(el("ul", {}, ...page.sections.map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.title)))));
for (const part of page.sections) {
  const box = el("section", { id: part.id, "aria-labelledby": `${part.id}-title` }, el("h2", { id: `${part.id}-title`, tabindex: -1 }, part.title));
  kinds[part.kind](box, part);
  const note = part.note ? el("p", { class: "note" }, part.note) : null;
  if (note) (part.kind === "results" || part.kind === "matrix" ? box.append(note) : box.querySelector("h2").after(note));
  main.append(box);
}
let width = 0;
const redraw = () => { if (main.clientWidth !== width) { width = main.clientWidth; drawings.forEach((draw) => draw()); } };
new ResizeObserver(redraw).observe(main);
redraw();
if (location.hash) { const goal = document.getElementById(location.hash.slice(1)); if (goal) goal.scrollIntoView(); }
})();
