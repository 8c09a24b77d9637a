// The cells that a sparse pattern computes and the reasons that the record gives (`seen` in
// docs/json.md), and the picture of the receptive field.

const REASONS = {
  full: { hue: 262, says: "everything is looked at" },
  window: { hue: 250, says: "the key is near" },
  global: { hue: 55, says: "one of the two looks at all and is looked at by all" },
  random: { hue: 340, says: "drawn by lot" },
  stride: { hue: 150, says: "a stride away, or the summary of another block" },
  block: { hue: 300, says: "the same block" },
};

/** Returns a sparse pattern's data on one kind's maps, or null. */
function patternOf(record, hypothesis, kind) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  return (owner && owner.seen && owner.seen[kind]) || null;
}

/** True if a record holds only the computed cells of a kind, because the map is too
 *  large to draw. */
function isTooLarge(record, hypothesis, kind) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  return patternOf(record, hypothesis, kind) !== null && Array.isArray(owner[kind]) && owner[kind].length === 0;
}

const reasonsOfRows = new WeakMap();  // a pattern's rows → reasons of all cells

/** Returns why one head computes its cells: 0 for cells that it does not compute, otherwise 1 +
 *  the index of the reason in the record; null without a pattern. */
function reasonsOf(record, hypothesis, kind, { layer, head, n, m }) {
  const seen = patternOf(record, hypothesis, kind);
  if (!seen) return null;
  const rows = seen.patterns[seen.of[layer][head]];
  if (!reasonsOfRows.has(rows)) {
    const why = new Uint8Array(n * m);
    rows.forEach((runs, q) => {
      for (let i = 0; i < runs.length; i += 3) why.fill(1 + runs[i + 2], q * m + runs[i], q * m + runs[i] + runs[i + 1]);
    });
    reasonsOfRows.set(rows, why);
  }
  return reasonsOfRows.get(rows);
}

/** Returns the reason of a cell of the scene as a word, or null. */
function reasonAt(at) {
  const { why } = scene.matrix;
  return why && why[at] > 0 ? scene.seen.reasons[why[at] - 1] : null;
}

/** Returns a reason's colour; as a cell's background it is deeper the larger the weight. */
function reasonColour(reason, weight) {
  const { hue } = REASONS[reason] || { hue: 0 };
  const part = weight > 0 ? Math.sqrt(Math.min(1, weight)) : 0;
  const [lightness, chroma] = isDark() ? [0.3 + 0.2 * part, 0.06 + 0.06 * part] : [0.94 - 0.2 * part, 0.05 + 0.09 * part];
  return `rgb(${oklchToRgb(lightness, chroma, hue).join(",")})`;
}

/** Returns a reason's colour for lines. */
function reasonLine(reason) {
  const { hue } = REASONS[reason] || { hue: 0 };
  return `rgb(${oklchToRgb(isDark() ? 0.76 : 0.56, isDark() ? 0.13 : 0.16, hue).join(",")})`;
}

/** Names of keys that are not tokens of the sentence, by their keys in a record. */
const OUTSIDE_KEYS = { own_global: "the model's own global tokens" };

/** Returns the weight that rows give to keys outside the columns: { name, weights:
 *  [layer][head][query] }, or null. */
function externalKeysOf(seen) {
  const key = seen && Object.keys(OUTSIDE_KEYS).find((one) => seen[one]);
  return key ? { name: OUTSIDE_KEYS[key], weights: seen[key] } : null;
}

/** Returns the same for one row of the scene: { name, weight }, or null. */
function externalKeysRow(q) {
  const outside = externalKeysOf(scene.seen);
  if (!outside || scene.heads.length === 0) return null;
  const { first, end } = scene.rows[q];
  let sum = 0;
  for (const { layer, head } of scene.heads) {
    for (let i = first; i < end; ++i) sum += outside.weights[layer][head][i];
  }
  return { name: outside.name, weight: sum / (scene.heads.length * (end - first)) };
}

const receptiveFieldView = (() => {
  const MOST_SIDE = 560;  // maximum px of the picture
  const MOST_NAMED = 40;  // maximum number of tokens with names beside the picture
  let first = null;  // number of layers after which a row has seen a column, row-major; 0: never
  let labels = [];
  let drawnFor = null;
  let layers = 0;

  function colour(layer) {
    const ramp = ramps[isDark() ? "dark" : "light"];
    return ramp[Math.round(235 - (layers > 1 ? (190 * (layer - 1)) / (layers - 1) : 0))];
  }

  function read(reach, n) {
    first = new Uint16Array(n * n);
    layers = 0;
    reach.forEach((runs, q) => {
      for (let i = 0; i < runs.length; i += 3) {
        first.fill(runs[i + 2], q * n + runs[i], q * n + runs[i] + runs[i + 1]);
        layers = Math.max(layers, runs[i + 2]);
      }
    });
  }

  function draw() {
    const n = labels.length;
    const canvas = find("field-canvas");
    canvas.width = n;
    canvas.height = n;
    const context = canvas.getContext("2d");
    const image = context.createImageData(n, n);
    for (let i = 0; i < n * n; ++i) {
      if (first[i] > 0) image.data.set([...colour(first[i]).rgb, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    const cell = Math.max(1, Math.min(26, Math.floor(MOST_SIDE / n)));
    canvas.style.width = `${n * cell}px`;
    find("field-rows").style.gridAutoRows = `${100 / n}%`;
    replaceChildren(find("field-rows"), n <= MOST_NAMED ? labels.map((label) => dataText(label)) : []);
    const swatch = (ground) => {
      const box = make("span", { class: "swatch", "aria-hidden": "true" });
      box.style.background = ground;
      return box;
    };
    const items = Array.from({ length: layers }, (_, i) => make("span", { class: "legend-item" },
        swatch(colour(i + 1).css), i === 0 ? "after the first layer" : `after ${i + 1}`));
    if (first.includes(0)) items.push(make("span", { class: "legend-item" }, swatch("transparent"), "never"));
    replaceChildren(find("field-legend"), items);
  }

  /** Writes, for each layer, how many tokens a token has seen. */
  function write() {
    const n = labels.length;
    const rows = Array.from({ length: layers }, (_, i) => {
      const counts = Array.from({ length: n }, (_, q) => first.subarray(q * n, (q + 1) * n)
          .reduce((sum, layer) => sum + (layer > 0 && layer <= i + 1 ? 1 : 0), 0));
      const [least, most] = [Math.min(...counts), Math.max(...counts)];
      return `${least === most ? most : `${least} to ${most}`} after ${i === 0 ? "the first layer" : i + 1}`;
    });
    find("field-says").textContent = `Of ${plural(n, "token")} a token has seen ${rows.join(", ")}.`;
    find("field-readout").textContent = "Point at the picture: rows see, columns are seen.";
  }

  function onPointer(event) {
    const box = find("field-canvas").getBoundingClientRect();
    const n = labels.length;
    const k = Math.floor(((event.clientX - box.left) / box.width) * n);
    const q = Math.floor(((event.clientY - box.top) / box.height) * n);
    if (!(q >= 0 && k >= 0 && q < n && k < n)) return;
    const layer = first[q * n + k];
    replaceChildren(find("field-readout"), dataText(labels[q], { class: "strong" }), ` (${q}) `,
        layer > 0 ? "has seen " : "never sees ", dataText(labels[k], { class: "strong" }), ` (${k})`,
        layer > 0 ? ` after ${plural(layer, "layer")}` : "");
  }

  function update() {
    const seen = scene.seen;
    const none = !seen || !seen.reach;
    find("field").hidden = none;
    find("to-field").hidden = none;
    if (none) return;
    const key = [scene.kind, isDark()].join();
    if (drawnFor && drawnFor.seen === seen && drawnFor.key === key) return;
    drawnFor = { seen, key };
    labels = tokenLabels(scene.axes.reads);
    read(seen.reach, labels.length);
    draw();
    write();
  }

  function start() {
    find("field-canvas").addEventListener("pointermove", onPointer);
    find("field-canvas").addEventListener("click", onPointer);
  }

  return { start, update };
})();
