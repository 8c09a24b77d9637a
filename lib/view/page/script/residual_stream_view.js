// The residual stream of a token as a picture: the stream from top to bottom, beside it what
// sublayers read from it and add to it, and every vector as a strip of cells. One stage at a time
// is open.

const residualStreamView = (() => {
  let key = null;  // identifies the picture on the page
  let way = null;
  // the number shown in full colour, for all vectors except the inside of the feed-forward layer
  let scale = 1;
  let facts = [];  // of each stage

  const SIGNS = { light: { up: 262, down: 45, from: 0.985, to: 0.48 }, dark: { up: 262, down: 55, from: 0.24, to: 0.82 } };
  const signed = {};

  /** Returns the colour of a number between −1 and 1: paper at 0, blue above, orange below. */
  function signedColor(part) {
    const theme = isDark() ? "dark" : "light";
    if (!signed[theme]) {
      const { up, down, from, to } = SIGNS[theme];
      signed[theme] = Array.from({ length: 129 }, (_, i) => {
        const size = Math.abs(i - 64) / 64;
        return oklchToRgb(from + (to - from) * size, 0.19 * Math.min(1, size * 1.4), i < 64 ? down : up);
      });
    }
    const root = Math.sign(part) * Math.sqrt(Math.min(1, Math.abs(part)));
    return signed[theme][64 + Math.round(64 * (root === root ? root : 0))];
  }

  function scaleOf(station) {
    return station.stage === "hidden" ? Math.max(1e-12, ...station.vector.map(Math.abs)) : scale;
  }

  function paint(canvas, station) {
    const { vector } = station;
    const top = scaleOf(station);
    canvas.width = vector.length;
    canvas.height = 1;
    const context = canvas.getContext("2d");
    const image = context.createImageData(vector.length, 1);
    vector.forEach((value, i) => image.data.set([...signedColor(value / top), 255], 4 * i));
    context.putImageData(image, 0, 0);
  }

  function labelsOf() {
    const { record, hypothesis } = scene;
    return { source: tokenLabels(record.source.tokens), reads: hypothesis ? tokenLabels(hypothesis.decoder_input.tokens) : [],
      writes: hypothesis ? tokenLabels(hypothesis.tokens) : [] };
  }

  function strong(text) {
    return dataText(text, { class: "strong" });
  }

  function number(value, digits = 3) {
    return make("span", { class: "number", text: fixed(value, digits) });
  }

  function describeToken() {
    const labels = labelsOf();
    if (way.side === "encoder") return ["The source word ", strong(labels.source[way.index]), " becomes what the decoder looks at."];
    return ["Step ", number(way.index, 0), " reads ", strong(labels.reads[way.index]), " and becomes the next word, ",
      strong(labels.writes[way.index]), "."];
  }

  // ---- the picture

  const RAIL = { stream: 14, side: 36 };
  const narrow = matchMedia("(max-width: 640px)");  // here a stage has two lines

  /** Draws the lines to the left of a stage: the stream, and branches that leave or join it. */
  function rail(i) {
    const { stations } = way;
    const { stream, side } = RAIL;
    const height = narrow.matches ? 50 : 32;
    const here = stations[i];
    const middle = height / 2;
    const beside = isInsideSublayer(here);
    const first = i === 0;
    const last = i === stations.length - 1;
    const after = i > 0 && isInsideSublayer(stations[i - 1]);
    const parts = [makeSvg("line", { class: "rail", x1: stream, x2: stream, y1: first ? middle : 0, y2: last ? middle : height })];
    if (beside) {
      // A position embedding comes from outside; what a sublayer adds was computed from the stream.
      if (!after && here.stage !== "position") parts.push(makeSvg("path", { class: "rail is-side",
        d: `M${stream} -8C${stream} ${middle} ${side} -4 ${side} ${middle}` }));
      else if (after) parts.push(makeSvg("line", { class: "rail is-side", x1: side, x2: side, y1: 0, y2: middle }));
      parts.push(makeSvg("line", { class: "rail is-side", x1: side, x2: side, y1: middle, y2: height }));
    } else if (after) {
      parts.push(makeSvg("path", { class: "rail is-side", d: `M${side} 0C${side} ${middle} ${stream + 12} ${middle} ${stream + 6} ${middle}` }));
    }
    const x = beside ? side : stream;
    parts.push(makeSvg("circle", { class: beside ? "stop-dot is-side" : "stop-dot", cx: x, cy: middle, r: after && !beside ? 6.5 : 4.5 }));
    if (after && !beside) parts.push(makeSvg("path", { class: "plus", d: `M${x - 3.2} ${middle}h6.4M${x} ${middle - 3.2}v6.4` }));
    return makeSvg("svg", { class: "stop-rail", width: 50, height, viewBox: `0 0 50 ${height}`, "aria-hidden": "true" }, parts);
  }

  function lengthBar(i) {
    const most = Math.max(...facts.filter(Boolean).map(({ length }) => length));
    const bar = make("span", { class: "bar" });
    bar.style.width = `${100 * facts[i].length / most}%`;
    return make("span", { class: "stop-length" }, make("span", { class: "number", text: fixed(facts[i].length, 2) }),
      make("span", { class: "bar-room" }, bar));
  }

  function stageRow(i) {
    const station = way.stations[i];
    const strip = station.vector ? make("canvas", { class: "stop-strip", "aria-hidden": "true" }) : null;
    if (strip) paint(strip, station);
    const row = make("button", { type: "button", class: "stop", id: `stop-${i}`, "data-stop": i, "aria-expanded": "false" }, rail(i),
      make("span", { class: "stop-name", text: station.title }), strip || bestStrip(), facts[i] ? lengthBar(i) : null);
    return make("li", { class: isInsideSublayer(station) ? "is-side" : "" }, row);
  }

  /** Shows the most probable tokens in place of a vector. */
  function bestStrip() {
    const step = nextWordView.stepOf(scene.hypothesis, way.index);
    return make("span", { class: "stop-best" }, step.pieces.slice(0, 4).map((piece) =>
      make("span", { class: piece.chosen ? "strong" : "quiet" }, dataText(piece.label), " ", nextWordView.probabilityText(piece.probability))));
  }

  function layerHead(station) {
    const stack = way.side === "encoder" ? "Encoder" : "Decoder";
    return make("li", { class: "layer-head", text: station.layer < 0 ? `After the last ${stack.toLowerCase()} layer` : `${stack} layer ${station.layer}` });
  }

  function drawPicture() {
    const rows = [];
    let layer = -1;
    way.stations.forEach((station, i) => {
      if (station.layer !== layer && (layer >= 0 || station.layer >= 0)) rows.push(layerHead(station));
      layer = station.layer;
      rows.push(stageRow(i));
    });
    replaceChildren(find("way-picture"), make("li", { class: "picture-head", "aria-hidden": "true" },
      make("span", { text: "the stream, and what blocks add" }), make("span", { text: "the vector: blue above 0, orange below" }), make("span", { text: "length" })), rows);
  }

  function explain(station) {
    switch (station.stage) {
      case "token": return ["Every piece of the vocabulary has a row of ", number(scene.record.model.d_model, 0), " numbers in one table. This is the row of ",
        strong(tokenHere()), ", times the model’s factor (√d_model where it scales).",
        station.vector.every((value) => value === 0) ? " All its numbers are 0: it says nothing but where the sentence begins." : ""];
      case "position": return "Attention knows no order: a vector of the place, sines and cosines or learned, tells the same word in two places apart.";
      case "embedded": return "Both are added: this vector enters the first layer.";
      case "normed": return "The block reads the stream normed: mean 0 and spread 1, times a learned factor, plus a learned offset.";
      case "hidden": return [`Each token for itself: ${thousands(station.vector.length)} units, each a weighted sum of the vector through the activation. `,
        "What they say together is added to the stream."];
      case "sum": return "The residual connection: what the block made is added to what went past it, so nothing is lost.";
      case "output": return "Layer norm: mean 0 and spread 1 over the columns, times a learned factor, plus a learned offset.";
      case "stack_output": return "The norm behind the last layer.";
      case "added": return station.block === "feed_forward"
        ? "The hidden units, through the second matrix: what the feed-forward block adds to the stream."
        : ["Each head mixes the values of the words it looks at; the heads side by side, through the output matrix, are added to the stream. ",
          station.block === "cross" ? "This is where the source sentence comes in." : ""];
      default: return "";
    }
  }

  function tokenHere() {
    const labels = labelsOf();
    return way.side === "encoder" ? labels.source[way.index] : labels.reads[way.index];
  }

  /** Shows where each head of the sublayer looks, with a link to its step-by-step. */
  function headsOf(station) {
    const { kind } = SUBLAYERS[station.block];
    const { record, hypothesis } = scene;
    const labels = labelsOf();
    const columns = kind === "decoder_self" ? labels.reads : labels.source;
    const { heads } = shapeOf(record, kind);
    const items = Array.from({ length: heads }, (_, head) => {
      const row = rowsOf(record, hypothesis, kind, station.layer, head)[way.index] || [];
      const order = Array.from(row, (weight, j) => ({ weight, j })).sort((a, b) => b.weight - a.weight)
        .filter(({ weight }) => weight >= 0.005).slice(0, 3);
      if (order.length === 0) return null;
      return make("li", {}, make("span", { class: "quiet", text: headName(kind, station.layer, head) }),
        make("span", {}, order.map(({ weight, j }, at) => [at > 0 ? ", " : "", strong(columns[j]), " ", number(weight, 2)])),
        make("button", { type: "button", class: "text-button", text: "step by step", "aria-label": `${headName(kind, station.layer, head)}, step by step`,
          on: { click: () => {
            change({ kind, layer: station.layer, head, mean: "one", unit: "tokens", cell: { q: way.index, k: order[0].j } });
            stepsView.reveal();
          } } }));
    });
    return make("ul", { class: "way-heads" }, items);
  }

  /** Returns the hidden units with the largest magnitudes. */
  function unitsOf(station) {
    const order = Array.from(station.vector, (value, i) => ({ value, i })).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 8);
    const on = station.vector.filter((value) => value > 0).length;
    return make("p", {}, `${thousands(on)} of ${thousands(station.vector.length)} are above 0. The strongest: `,
      order.map(({ value, i }, at) => [at > 0 ? ", " : "", make("span", { class: "quiet", text: `${i} ` }), number(value)]), ".");
  }

  function logitsTable() {
    const step = nextWordView.stepOf(scene.hypothesis, way.index);
    const cell = (text, exactly) => make("td", { class: "number", title: exactly, text });
    return make("table", { class: "logits-table" },
      make("thead", {}, make("tr", {}, make("th", { text: "piece" }), make("th", { class: "number", text: "logit" }),
        make("th", { class: "number", text: "log-softmax" }), make("th", { class: "number", text: "probability" }))),
      make("tbody", {}, step.pieces.map((piece) => make("tr", { class: piece.chosen ? "is-written strong-row" : "" },
        make("th", { scope: "row" }, dataText(piece.label)),
        piece.logit === undefined ? make("td") : cell(fixed(piece.logit, 4), exact(piece.logit)), cell(fixed(piece.logProb, 4), exact(piece.logProb)),
        cell(nextWordView.probabilityText(piece.probability), computed(piece.probability))))));
  }

  // ---- one station, opened

  function cellReader(station, i) {
    const readout = make("p", { class: "cell-says quiet", id: "cell-says", text: "Point at a cell, or move with the arrow keys, for its number." });
    const canvas = make("canvas", { class: "big-strip", id: "big-strip", tabindex: "0", role: "slider", "aria-label": "cells of the vector",
      "aria-valuemin": 0, "aria-valuemax": station.vector.length - 1, "aria-valuenow": 0 });
    paint(canvas, station);
    let at = -1;
    const say = (column) => {
      at = Math.max(0, Math.min(station.vector.length - 1, column));
      canvas.setAttribute("aria-valuenow", at);
      canvas.setAttribute("aria-valuetext", `column ${at}: ${shortest(station.vector[at])}`);
      replaceChildren(readout, "column ", number(at, 0), ": ", make("span", { class: "strong number", "data-cell": at, text: shortest(station.vector[at]) }), beforeAfter(i, at));
    };
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      say(Math.floor((event.clientX - box.left) / box.width * station.vector.length));
    });
    canvas.addEventListener("keydown", (event) => {
      const next = moveInGrid(event, { row: 0, column: Math.max(0, at) }, 1, station.vector.length);
      if (next) say(next.column);
    });
    return [canvas, readout];
  }

  /** Returns the two summands of a sum. */
  function beforeAfter(i, column) {
    const { stations } = way;
    if (!["sum", "embedded"].includes(stations[i].stage) || i < 2) return null;
    const added = stations[i - 1];
    let stream = i - 2;
    while (stream >= 0 && isInsideSublayer(stations[stream])) --stream;
    if (stream < 0 || added.vector.length !== stations[stream].vector.length) return null;
    return make("span", { class: "quiet" }, " = ", shortest(stations[stream].vector[column]), " + ", shortest(added.vector[column]));
  }

  function factList(i) {
    const { length, mean, smallest, largest } = facts[i];
    const { vector } = way.stations[i];
    const fact = (name, ...value) => make("li", {}, make("span", { class: "quiet", text: name }), " ", value);
    return make("ul", { class: "facts way-facts" }, fact("columns", number(vector.length, 0)), fact("length ‖x‖", number(length)),
      fact("mean", number(mean)), fact("smallest", number(vector[smallest]), make("span", { class: "quiet", text: ` (column ${smallest})` })),
      fact("largest", number(vector[largest]), make("span", { class: "quiet", text: ` (column ${largest})` })));
  }

  function signedLegend(station) {
    const canvas = make("canvas", { width: 120, height: 1, "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    for (let x = 0; x < 120; ++x) {
      const place = (x - 59.5) / 59.5;
      context.fillStyle = `rgb(${signedColor(Math.sign(place) * place * place).join(",")})`;
      context.fillRect(x, 0, 1, 1);
    }
    const top = scaleOf(station);
    return make("p", { class: "signed-legend quiet" }, number(-top, 2), canvas, number(top, 2),
      make("span", { text: "the shade follows the root; all strips but the feed-forward’s inside share this scale" }));
  }

  function detail(i) {
    const station = way.stations[i];
    if (station.stage === "logits") {
      return [make("p", { text: "The last vector times the table of all pieces gives each piece a number, the logit; softmax over all of them makes probabilities." }), logitsTable()];
    }
    const { block, stage } = station;
    return [make("p", {}, explain(station)), cellReader(station, i), factList(i),
      stage === "added" && block !== "feed_forward" ? headsOf(station) : null, stage === "hidden" ? unitsOf(station) : null, signedLegend(station)];
  }

  function open(i) {
    for (const row of find("way-picture").querySelectorAll(".stop")) {
      const here = Number(row.dataset.stop) === i;
      row.setAttribute("aria-expanded", String(here));
      row.setAttribute("tabindex", here ? "0" : "-1");
      row.parentNode.classList.toggle("is-open", here);
      const old = row.parentNode.querySelector(".stop-detail");
      if (old) old.remove();
      if (here) row.after(make("div", { class: "stop-detail", id: "stop-detail" }, detail(i)));
    }
    find("way-back").disabled = i === 0;
    find("way-on").disabled = i === way.stations.length - 1;
    const station = way.stations[i];
    const where = station.layer < 0 ? "" : ` · layer ${station.layer}`;
    replaceChildren(find("way-place"), make("span", { class: "strong", text: station.title }),
      make("span", { class: "quiet", text: `${where} · ${i + 1} of ${way.stations.length}` }));
  }

  function chips() {
    const labels = labelsOf();
    const target = way.side === "decoder";
    const { index } = way;
    // One Tab stop per row: the chosen button, or the first if none is chosen.
    const one = (side, i, text, spoken) => {
      const chosen = (side === "steps") === target && i === index;
      const stop = chosen || (i === 0 && (side === "steps") !== target);
      return make("button", { type: "button", class: "way-chip", role: "radio", "aria-checked": String(chosen), tabindex: stop ? "0" : "-1",
        "aria-label": spoken, "data-side": side, "data-index": i }, text);
    };
    return [
      make("div", { class: "way-choice", role: "radiogroup", "aria-label": "source words" }, make("span", { class: "quiet", text: "source" }),
        labels.source.map((label, i) => one("source", i, dataText(label), `source word ${label}`))),
      labels.writes.length === 0 ? null : make("div", { class: "way-choice", role: "radiogroup", "aria-label": "steps of the translation" }, make("span", { class: "quiet", text: "steps" }),
        labels.writes.map((label, t) => one("steps", t, [dataText(labels.reads[t], { class: "quiet" }), " → ", dataText(label)],
          `step ${t}: reads ${labels.reads[t]}, writes ${label}`))),
    ];
  }

  function go(i) {
    change({ stop: clamp(i, way.stations.length) });
    const row = find(`stop-${state.stop}`);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    announce(way.stations[state.stop].title);
  }

  function choose(side, i) {
    change(side === "steps" ? { token: null, step: i } : { token: i });
    find("way-content").querySelector('.way-chip[aria-checked="true"]').focus({ preventScroll: true });
  }

  function onChipKey(event, chip) {
    const { side, index } = chip.dataset;
    const count = chip.parentNode.querySelectorAll(".way-chip").length;
    const next = moveInGrid(event, { row: 0, column: Number(index) }, 1, count);
    if (next) choose(side, next.column);
  }

  function onKey(event) {
    const chip = event.target.closest(".way-chip");
    if (chip) onChipKey(event, chip);
    if (!event.target.classList.contains("stop")) return;
    const { length } = way.stations;
    const end = { Home: 0, End: length - 1 }[event.key];
    const next = moveInGrid(event, { row: state.stop, column: 0 }, length, 1);
    if (next) go(end === undefined ? next.row : end);
  }

  function missing() {
    const branch = scene.hypothesis && scene.hypothesis.branch !== undefined;
    return make("p", { class: "note", id: "way-missing", text: branch ? "A branch of the search was not recorded vector by vector; go back to a translation."
      : "This file does not hold the vectors between the layers" + (scene.record.model.update === undefined
        ? ". translate --vectors with --html or --json writes them." : ": a training run does not record them; translate with its model, and --html, shows them.") });
  }

  function drawFrame() {
    replaceChildren(find("way-content"), chips(),
      make("div", { class: "way-walk" },
        make("button", { type: "button", class: "plain", id: "way-back", text: "‹ back", on: { click: () => go(state.stop - 1) } }),
        make("button", { type: "button", class: "plain", id: "way-on", text: "on ›", on: { click: () => go(state.stop + 1) } }),
        make("span", { id: "way-place" })),
      make("ol", { class: "way-picture", id: "way-picture" }));
  }

  function update() {
    const { record, hypothesis } = scene;
    const none = record.source.tokens.length === 0;
    find("way").hidden = none;
    find("to-way").hidden = none;
    if (none) return;
    state.token = state.token === null ? null : clamp(state.token, record.source.tokens.length);
    if (!hypothesis || hypothesis.tokens.length === 0) state.token = state.token || 0;
    const wanted = [record, hypothesis, state.token, state.token === null ? state.step : -1, isDark(), narrow.matches];
    if (!key || wanted.some((part, i) => part !== key[i])) {
      key = wanted;
      way = residualStreamOf(record, hypothesis, state.token, state.step);
      if (way === null) {
        replaceChildren(find("way-says"));
        replaceChildren(find("way-content"), missing());
        return;
      }
      scale = residualScale(way.stations);
      facts = way.stations.map(({ vector }) => (vector ? vectorFacts(vector) : null));
      replaceChildren(find("way-says"), describeToken());
      drawFrame();
      drawPicture();
    }
    if (way === null) return;
    state.stop = clamp(state.stop, way.stations.length);
    open(state.stop);
  }

  function start() {
    find("way-content").addEventListener("click", (event) => {
      const row = event.target.closest(".stop");
      const chip = event.target.closest(".way-chip");
      if (chip) choose(chip.dataset.side, Number(chip.dataset.index));
      if (row) change({ stop: Number(row.dataset.stop) });
    });
    find("way-content").addEventListener("keydown", onKey);
    narrow.addEventListener("change", update);
  }

  return { start, update };
})();
