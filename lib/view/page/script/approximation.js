// The additional matrices of linformer, performer and lsh (`approximation` in docs/json.md):
// projected keys, the exact weights and their difference, or the tokens sorted by hash.

/** Returns how often queries found their best key, and the mean weight of the compared keys, of one LSH
 *  head. */
function metBest(found, layer, head) {
  const best = found.best[layer][head];
  const why = reasonsOf(scene.record, scene.hypothesis, scene.kind,
      { layer, head, n: best.length, m: best.length });
  const met = best.map((key, q) => key >= 0 && why[q * best.length + key] > 0);
  const mass = found.mass[layer][head];
  return { best, met, of: best.filter((key) => key >= 0).length, count: met.filter(Boolean).length,
    mass: sumOf(mass) / Math.max(1, mass.length) };
}

const approximationView = (() => {
  const MOST_SIDE = 300;  // maximum px of a picture
  const MOST_NAMED = 24;  // maximum number of tokens with names beside the picture
  const HUES = [250, 55, 150, 320];  // hues of buckets, used in rotation
  let pictures = [];  // [{name, title, w, colour}], all with the same rows and columns
  let labels = { rows: [], columns: [] };
  const unpackedOf = new WeakMap();  // approximation → its unpacked maps
  let drawnFor = "";
  let drawnOf = null;

  /** Returns the approximation's maps under `key`: [head of all layers or layer] of [n, m]. */
  function maps(found, key, count, n, m) {
    if (!unpackedOf.has(found)) unpackedOf.set(found, {});
    const known = unpackedOf.get(found);
    if (!known[key]) known[key] = unpackMaps(found[key], count, n, m);
    return (number) => known[key].subarray(number * n * m, (number + 1) * n * m);
  }

  const signedColour = (value) => shadeOf(value).rgb;

  function weightsPicture(title) {
    return { name: "weights", title, w: meanOf(scene.heads.map((h) => scene.weights.pieces(h.layer, h.head))).w,
      colour: signedColour };
  }

  /** Returns the estimated weights, the exact ones and their difference. */
  function exactPictures(found) {
    const { shape, axes, heads } = scene;
    const [n, m] = [axes.reads.length, axes.columns.length];
    const of = maps(found, "exact", shape.layers * shape.heads, n, m);
    const exact = new Float64Array(n * m);
    for (const { layer, head } of heads) {
      const one = of(layer * shape.heads + head);
      for (let i = 0; i < n * m; ++i) exact[i] += one[i] / heads.length;
    }
    const estimated = weightsPicture("estimated");
    return [estimated, { name: "exact", title: "exact", w: exact, colour: signedColour },
      { name: "difference", title: "estimated − exact", w: estimated.w.map((weight, i) => weight - exact[i]), colour: signedColour }];
  }

  function mixingPictures(found) {
    const { shape, axes, heads } = scene;
    const layer = heads[0].layer;
    const made = [weightsPicture("weights of the mixtures")];
    if (heads.some((one) => one.layer !== layer)) return made;
    for (const [key, title] of [["keys", "E: into the mixture's key"], ["values", "F: into its value"]]) {
      made.push({ name: key, title, colour: signedColour,
        w: maps(found, key, shape.layers, axes.reads.length, axes.columns.length)(layer) });
    }
    return made;
  }

  /** Returns which keys the rows met, and their best keys. */
  function metPicture(found, met) {
    const { layer, head } = scene.heads[0];
    const n = met.best.length;
    const why = reasonsOf(scene.record, scene.hypothesis, scene.kind, { layer, head, n, m: n });
    const w = Float64Array.from(why, (reason, i) => {
      const best = met.best[Math.floor(i / n)] === i % n;
      return best ? (reason > 0 ? 3 : 2) : reason > 0 ? 1 : 0;
    });
    const colours = isDark() ? [[23, 28, 35], [52, 74, 102], [244, 146, 77], [86, 211, 100]]
      : [[255, 255, 255], [198, 214, 232], [194, 80, 10], [26, 127, 55]];
    return { name: "met", title: "what each row met", w, colour: (what) => colours[what], colours,
      says: (what) => ["not met", "met", "its best key, not met", "its best key, met"][what] };
  }

  function draw({ name, title, w, colour }) {
    const [n, m] = [labels.rows.length, labels.columns.length];
    const canvas = make("canvas", { class: "field-canvas", width: m, height: n, role: "img", "aria-label": title,
      "data-name": name });
    const context = canvas.getContext("2d");
    const image = context.createImageData(m, n);
    for (let i = 0; i < n * m; ++i) image.data.set([...colour(w[i]), 255], 4 * i);
    context.putImageData(image, 0, 0);
    const cell = Math.max(1, Math.min(32, Math.floor(MOST_SIDE / Math.max(n, m))));
    canvas.style.width = `${m * cell}px`;
    const rows = make("div", { class: "field-rows", "aria-hidden": "true" },
        n <= MOST_NAMED && cell >= 12 ? labels.rows.map((label) => dataText(label)) : []);
    rows.style.gridAutoRows = `${100 / n}%`;
    return make("figure", { class: "beside-figure" }, make("figcaption", { text: title }),
        make("div", { class: "field-picture" }, rows, canvas));
  }

  /** Draws the tokens of a hashing round in the order of their hashes. */
  function strip(order, buckets, chunk, round) {
    const items = order.flatMap((token, place) => {
      const bucket = buckets[token];
      const first = place === 0 || buckets[order[place - 1]] !== bucket;
      const item = make("span", { class: "hash-token", "data-token": token, "data-bucket": bucket, title: `bucket ${bucket}` },
          first ? make("span", { class: "hash-bucket", text: bucket }) : null, dataText(labels.rows[token]));
      const hue = HUES[bucket % HUES.length];
      item.style.background = `rgb(${(isDark() ? oklchToRgb(0.34, 0.06, hue) : oklchToRgb(0.93, 0.04, hue)).join(",")})`;
      const ends = (place + 1) % chunk === 0 && place + 1 < order.length;
      return ends ? [item, make("span", { class: "hash-end", "aria-label": "end of a chunk" })] : [item];
    });
    return make("div", { class: "hash-round", "data-round": round }, make("span", { class: "quiet hash-name", text: `round ${round}` }),
        make("div", { class: "hash-strip" }, items));
  }

  function strips(found) {
    const { layer, head } = scene.heads[0];
    const buckets = found.buckets[layer][head];
    if (buckets.length === 0) return [make("p", { class: "quiet", text: "The sentence is one chunk: nothing is hashed." })];
    return found.order[layer][head].map((order, round) => strip(order, buckets[round], found.chunk, round));
  }

  /** Returns the panel's title, one sentence about the picture, and the panel's contents. */
  function contentOf(found) {
    if (found.type === "linformer") {
      pictures = mixingPictures(found);
      return { title: "Mixtures", note: "All tokens become a few mixtures before any query asks; queries look at those.",
        says: `Each of ${plural(labels.columns.length, "mixture")} has a key, mixed by E, and a value, mixed by F. ${pictures.length > 1 ? "What is mixed in with a minus is drawn in warm colours." : "Mixtures are a layer's own: choose one to see what is in them."}`, more: [] };
    }
    if (found.type === "performer") {
      pictures = exactPictures(found);
      const n = Math.max(1, labels.rows.length);
      const missed = sumOf(pictures[2].w.map((part) => Math.max(0, -part))) / n;
      return { title: "Estimated and exact", note: "Random features estimate softmax's weights; beside them what softmax makes of the same queries and keys.",
        says: `Of a row's weight ${fixed(missed, 3)} lies elsewhere than it should, on average. Too little is drawn in warm colours.`, more: [] };
    }
    if (scene.heads.length !== 1) {
      pictures = [];
      return { title: "Buckets", note: "Each head hashes for itself.", says: "Choose one head to see its buckets.", more: [] };
    }
    const { layer, head } = scene.heads[0];
    const met = metBest(found, layer, head);
    pictures = [metPicture(found, met)];
    return { title: "Buckets", note: "Random rotations hash the queries, which are the keys, too; in each round the tokens, sorted by bucket, are cut into chunks, and a chunk sees itself and the one before it.",
      says: `${met.count} of ${plural(met.of, "row")} found their best key, the one with the largest score. Of full attention's weights on other tokens, ${fixed(met.mass, 3)} belong to keys that were compared.`,
      more: strips(found) };
  }

  function onPointer(event) {
    const canvas = event.target.closest("canvas");
    if (!canvas) return;
    const box = canvas.getBoundingClientRect();
    const [n, m] = [labels.rows.length, labels.columns.length];
    const k = Math.floor(((event.clientX - box.left) / box.width) * m);
    const q = Math.floor(((event.clientY - box.top) / box.height) * n);
    if (!(q >= 0 && k >= 0 && q < n && k < m)) return;
    replaceChildren(find("beside-readout"), dataText(labels.rows[q], { class: "strong" }), ` (${q}), `,
        dataText(labels.columns[k], { class: "strong" }), ` (${k}): `,
        pictures.map(({ title, w, says }, i) => [i > 0 ? ", " : "", says ? says(w[q * m + k])
          : [`${title} `, make("span", { class: "number", text: computed(w[q * m + k]) })]]));
  }

  function legend() {
    const met = pictures.find(({ says }) => says);
    return met ? met.colours.map((rgb, what) => {
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = `rgb(${rgb.join(",")})`;
      return make("span", { class: "legend-item" }, swatch, met.says(what));
    }) : [];
  }

  function update() {
    const found = approximationOf(scene.record, scene.hypothesis, scene.kind);
    const none = !found || scene.tooLarge || scene.isEmpty || scene.heads.length === 0 || (found.type === "performer" && !found.exact);
    find("beside").hidden = none;
    find("to-beside").hidden = none;
    if (none) { drawnFor = ""; return; }
    const key = JSON.stringify([scene.kind, scene.heads, isDark(), state.shade, state.sentence, state.moment, state.hypothesis, scene.record.changes]);
    if (drawnFor === key && drawnOf === found) return;
    drawnFor = key;
    drawnOf = found;
    labels = { rows: tokenLabels(scene.axes.writes || scene.axes.reads), columns: tokenLabels(scene.axes.columns) };
    const { title, note, says, more } = contentOf(found);
    putText(find("beside-title"), title);
    putText(find("beside-note"), note);
    putText(find("beside-says"), says);
    replaceChildren(find("beside-maps"), pictures.map(draw), more);
    replaceChildren(find("beside-legend"), legend());
    putText(find("beside-readout"), pictures.length > 0 ? "Point at a picture: rows look, columns are looked at." : "");
  }

  function start() {
    find("beside-maps").addEventListener("pointermove", onPointer);
    find("beside-maps").addEventListener("click", onPointer);
  }

  return { start, update };
})();
