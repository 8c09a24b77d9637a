// All heads of the chosen kind as small maps: layers down, heads across. A small map is a canvas
// with one pixel per cell that the browser enlarges. It is drawn when it scrolls into view.

const overview = (() => {
  // maximum pixels of a small map's side; for a longer sentence, a pixel is the maximum of a block
  const MOST_PIXELS = 96;
  let host = null;
  let thumbs = [];    // {layer, head, cell, canvas, toggle, drawn}
  let shapeKey = "";
  let drawKey = "";
  const owners = new WeakMap();  // object → number, for use in keys
  let owned = 0;

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const thumb = thumbs.find((other) => other.cell === entry.target);
      if (!thumb) continue;
      thumb.inSight = entry.isIntersecting;
      if (thumb.inSight) draw(thumb);
    }
  }, { rootMargin: "200px" });

  function identity(object) {
    if (!object) return 0;
    if (!owners.has(object)) owners.set(object, ++owned);
    return owners.get(object);
  }

  function draw(thumb) {
    if (thumb.drawn === drawKey) return;
    thumb.drawn = drawKey;
    const { n, m, w, masked } = scene.map(thumb.layer, thumb.head);
    const rows = Math.max(1, Math.min(n, MOST_PIXELS));
    const columns = Math.max(1, Math.min(m, MOST_PIXELS));
    const peak = new Float64Array(rows * columns).fill(NaN);  // NaN: only masked cells
    for (let q = 0; q < n; ++q) {
      const row = Math.floor((q * rows) / n) * columns;
      for (let k = 0; k < m; ++k) {
        const at = row + Math.floor((k * columns) / m);
        const weight = w[q * m + k] || 0;
        if (!masked[q * m + k] && !(Math.abs(weight) <= Math.abs(peak[at]))) peak[at] = weight;
      }
    }
    const { canvas } = thumb;
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < peak.length; ++i) {
      if (peak[i] === peak[i]) pixels[i] = shadeOf(peak[i]).pixel;  // masked: the background shows through
    }
    context.putImageData(image, 0, 0);
  }

  function thumbOf(layer, head) {
    const canvas = make("canvas", { width: 1, height: 1, "aria-hidden": "true" });
    const toggle = make("button", {
      type: "button", class: "thumb-switch", tabindex: "-1",
      on: { click: (event) => { event.stopPropagation(); toggleHead(layer, head); } },
    });
    const cell = make("div", {
      class: "thumb", role: "gridcell", tabindex: "-1", "data-layer": layer, "data-head": head,
      on: { click: () => choose(layer, head) },
    }, canvas, toggle);
    return { layer, head, cell, canvas, toggle, drawn: "", inSight: false };
  }

  function build({ layers, heads }) {
    watcher.disconnect();
    thumbs = [];
    host.style.setProperty("--heads", heads);
    host.setAttribute("aria-rowcount", layers);
    host.setAttribute("aria-colcount", heads);
    const top = make("div", { class: "thumb-row thumb-heads", "aria-hidden": "true" },
        make("span", { class: "thumb-layer" }),
      Array.from({ length: heads }, (_, head) => make("span", { class: "thumb-name", text: head })));
    const rows = Array.from({ length: layers }, (_, layer) => {
      const row = Array.from({ length: heads }, (_, head) => thumbOf(layer, head));
      thumbs.push(...row);
      return make("div", { class: "thumb-row", role: "row" },
        make("span", { class: "thumb-layer", role: "presentation", "aria-hidden": "true", text: layer }),
            row.map((thumb) => thumb.cell));
    });
    replaceChildren(host, top, rows);
    for (const thumb of thumbs) watcher.observe(thumb.cell);
  }

  function choose(layer, head) {
    change({ layer, head, mean: "one" });
  }

  /** Returns an explanation of the stars and of the metric behind them. */
  function starText(count) {
    const which = count > 1 ? `★1 ${count > 2 ? "to" : "and"} ★${count}: the heads that pair words best` : "★1: the head that pairs words best";
    const over = overall && state.over === "all" ? `, over all ${overall.sentences} sentences` : overall ? ", in this sentence" : "";
    return `${which}${over}${scene.record.model.weights === "random" ? ", by chance: these weights are random" : ""}.`;
  }

  function mark(report) {
    const shown = new Set(scene.heads.map((h) => headKey(h.layer, h.head)));
    const places = scene.kind === "cross" && report ? bestHeads(scene.hypothesis) : new Map();
    find("star-says").hidden = places.size === 0;
    host.classList.toggle("has-stars", places.size > 0);
    putText(find("star-says"), starText(places.size));
    for (const { layer, head, cell, toggle } of thumbs) {
      const on = isOn(scene.kind, layer, head);
      const chosen = layer === state.layer && head === state.head;
      const place = places.get(headKey(layer, head));
      const best = place ? `, number ${place} of those that align best` : "";
      cell.classList.toggle("is-off", !on);
      cell.classList.toggle("is-shown", shown.has(headKey(layer, head)));
      cell.classList.toggle("is-chosen", chosen && state.mean === "one");
      cell.classList.toggle("is-best", place !== undefined);
      putAttribute(cell, "data-star", place ? `★${place}` : "");
      putAttribute(cell, "tabindex", chosen ? 0 : -1);
      putAttribute(cell, "aria-selected", chosen);
      putAttribute(cell, "aria-label", `layer ${layer}, head ${head}, ${on ? "on" : "off"}${best}`);
      putAttribute(cell, "title", headName(scene.kind, layer, head) + best);
      putAttribute(toggle, "aria-label", `layer ${layer}, head ${head}: ${on ? "switch off" : "switch on"}`);
      putAttribute(toggle, "aria-pressed", on);
      putAttribute(toggle, "title", on ? "counts in means: switch off" : "left out of means: switch on");
    }
  }

  function onKey(event) {
    const here = thumbs.find((thumb) => thumb.cell === event.target);
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(here.layer, here.head);
      return;
    }
    const { layers, heads } = scene.shape;
    const place = moveInGrid(event, { row: here.layer, column: here.head }, layers, heads);
    if (!place) return;
    choose(place.row, place.column);
    focusChosen();
  }

  function focusChosen() {
    const thumb = thumbs.find((other) => other.cell.tabIndex === 0);
    if (thumb) thumb.cell.focus({ preventScroll: false });
  }

  function update() {
    const { layers, heads } = scene.shape;
    const shape = `${scene.kind} ${layers} ${heads}`;
    if (shape !== shapeKey) {
      shapeKey = shape;
      build(scene.shape);
    }
    putAttribute(host, "aria-label", `all heads of ${KINDS[scene.kind].name}, layers down, heads across`);
    drawKey = [identity(scene.record), identity(scene.hypothesis), scene.kind, scene.words, scene.measure, state.shade,
        isDark()].join();
    for (const thumb of thumbs) if (thumb.inSight || printing) draw(thumb);
    mark(reportOf(scene.record, scene.hypothesis, scene.kind));
    const on = thumbs.filter((thumb) => isOn(scene.kind, thumb.layer, thumb.head)).length;
    putText(find("overview-count"), on === thumbs.length ? `${plural(layers, "layer")} × ${plural(heads, "head")}`
        : `${on} of ${thumbs.length} heads on`);
    find("all-on").hidden = on === thumbs.length;
  }

  function start() {
    host = find("overview-grid");
    host.addEventListener("keydown", onKey);
    find("all-on").addEventListener("click", () => {
      change({ off: { ...state.off, [state.kind]: new Set() } });
      focusChosen();
    });
  }

  return { start, update, focusChosen };
})();

/** Switches a head of the chosen kind on or off; a mean only includes heads that are on. */
function toggleHead(layer, head) {
  const off = new Set(state.off[state.kind]);
  const key = headKey(layer, head);
  const now = off.delete(key);
  if (!now) off.add(key);
  change({ off: { ...state.off, [state.kind]: off } });
  announce(`layer ${layer}, head ${head} is ${now ? "on" : "off"}`);
}
