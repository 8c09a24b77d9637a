// Key words (looked at) on the left, query words (that look) on the right, and a line for every
// weight, as thick as the weight: information flows from left to right, as one reads. On the
// right, a word's lines are stacked like the parts of a bar and fill its port, because a row sums
// to 1.

const linesView = (() => {
  let host = null;
  let svg = null;
  let rowButtons = [];
  let columnButtons = [];
  let kept = { rows: [], columns: [], groups: [] };  // results of keepChildren()
  let groups = [];  // one <g> per row
  let paths = new Map();  // index of a line (placeOfLine) → <path>
  let overlaid = false;  // the lines are of several heads
  let width = 0;  // px of the picture when last measured
  let drawnKey = "";
  let layout = null;

  const THINNEST = 0.06;  // px: thinner lines would be invisible
  // px, in maps of more than MANY cells, so that they are drawn quickly
  const THINNEST_MANY = 0.25;
  const MANY = 10000;
  const LEAST_PICTURE = 76;  // minimum px between the words
  const MOST_WORDS = 1 << 13;  // per side

  const placeOfLine = (q, k, i = 0) => (i * MOST_WORDS + q) * MOST_WORDS + k;

  const measured = () => Math.max(40, svg.clientWidth || svg.getBoundingClientRect().width);

  function layoutFor(n, m) {
    const most = Math.max(n, m);
    // In a hurry the last width is used until finish() measures it: measuring costs a layout.
    if (width === 0 || !live.hurries()) width = measured();
    if (find("stage-views").classList.contains("is-beside")) {
      // Beside the heat map, the words are aligned with its rows.
      const { top, height } = heatMap.rows();
      return { height, width, port: height * 0.7, total: top + most * height, rowTop: top, rowStep: height,
          ...columnsWithin(top, n * height, m, height) };
    }
    const height = most <= 12 ? 38 : most <= 24 ? 30 : 22;
    const rows = columnsWithin(0, most * height, n, height);
    return { height, width, port: height * 0.7, total: most * height, rowTop: rows.columnTop,
        rowStep: rows.columnStep, ...columnsWithin(0, most * height, m, height) };
  }

  /** Returns the width of the lines with rows of this height. */
  function widthWith(height) {
    const letters = Math.max(11, Math.min(15.5, height * 0.44)) / 13;
    const widest = (labels) => Math.max(0, ...labels.map((label) => textWidth(label, 500)));
    const rows = widest(scene.rows.map(rowLabel));
    // around the names: their padding, and room for a weight
    const beside = 2 * (14 + 7) + 2 * 40 * letters;
    return Math.ceil((rows + widest(scene.columns.map((column) => column.label))) * letters + beside) + LEAST_PICTURE;
  }

  /** Spreads the columns: if there are few beside many rows, up to three times as far apart,
   *  centred. */
  function columnsWithin(top, room, count, height) {
    const columnStep = Math.max(height, Math.min(3 * height, room / Math.max(1, count)));
    return { columnStep, columnTop: top + Math.max(0, (room - count * columnStep) / 2) };
  }

  function wordButton(axis, index) {
    const row = scene.rows[index];
    const isRow = axis === "row";
    const label = isRow
      ? (row.writes === null
        ? [dataText(row.reads, { class: "word-text" })]
        : [dataText(row.reads, { class: "word-reads" }),
            make("span", { class: "word-arrow", "aria-hidden": "true", text: "→" }),
           dataText(row.writes, { class: "word-text" })])
      : [dataText(scene.columns[index].label, { class: "word-text" })];
    const value = make("span", { class: "word-value", "aria-hidden": "true" });
    return make("button", {
      type: "button", class: `word word-${axis}`, tabindex: "-1", "data-index": index,
          "aria-pressed": "false",
    }, isRow ? [make("span", { class: "word-label" }, label), value]
        : [value, make("span", { class: "word-label" }, label)]);
  }

  /** Builds words and lines. Existing ones stay, because a keystroke changes few of them. */
  function build() {
    const { rows, columns } = scene;
    kept.rows = keepChildren(find("line-rows"), kept.rows, rows.map((row) => JSON.stringify([row.reads, row.writes])),
        (i) => wordButton("row", i));
    kept.columns = keepChildren(find("line-columns"), kept.columns, columns.map(({ label }) => label),
        (i) => wordButton("column", i));
    kept.groups = keepChildren(svg, kept.groups, rows.map((_, q) => q),
        (q) => makeSvg("g", { class: "line-group", "data-row": q }));
    [rowButtons, columnButtons, groups] = [kept.rows, kept.columns, kept.groups].map((list) => list.map(({ node }) => node));
    for (const [place, path] of paths) {
      const there = place < rows.length * MOST_WORDS && place % MOST_WORDS < columns.length;
      if (there && !overlaid && !scene.overlay) continue;
      path.remove();
      paths.delete(place);
    }
    overlaid = scene.overlay !== null;
    host.classList.toggle("has-steps", scene.axes.writes !== null);
    putText(find("line-columns-title"), KINDS[scene.kind].keys);
    putText(find("line-rows-title"), KINDS[scene.kind].queries);
  }

  /** Positions the words and lines of `matrix`, which may be an intermediate step of an
   *  animation between heads. */
  function draw(matrix) {
    const { n, m, w, masked } = matrix;
    layout = layoutFor(n, m);
    const { height, port, total, rowTop, rowStep, columnTop, columnStep } = layout;
    putStyle(host, "--line-height", `${height}px`);
    for (const [id, top, step] of [["line-rows", rowTop, rowStep], ["line-columns", columnTop, columnStep]]) {
      putStyle(find(id), "padding-top", `${top}px`);
      putStyle(find(id), "grid-auto-rows", `${step}px`);
    }
    putAttribute(svg, "viewBox", `0 0 ${width} ${total}`);
    putStyle(svg, "height", `${total}px`);
    const bend = width * 0.45;
    if (scene.overlay) {
      drawOverlay(bend);
      return;
    }
    const lowest = least();
    const scale = port / fullest(matrix);
    const thinnest = scene.matrix.w.length > MANY ? THINNEST_MANY : THINNEST;
    for (let q = 0; q < n; ++q) {
      let sum = 0;
      for (let k = 0; k < m; ++k) sum += Math.abs(w[q * m + k]) || 0;
      let y = rowTop + (q + 0.5) * rowStep - (sum * scale) / 2;
      for (let k = 0; k < m; ++k) {
        const at = q * m + k;
        const size = Math.abs(w[at]) || 0;
        const thickness = masked[at] ? 0 : size * scale;
        const from = y + thickness / 2;
        const to = columnTop + (k + 0.5) * columnStep;
        y += thickness;
        const place = placeOfLine(q, k);
        const path = size >= lowest && thickness >= thinnest ? lineAt(place, q, k) : dropLine(place);
        if (path) {
          const reason = state.why === "reason" ? reasonAt(at) : null;
          const stroke = reason ? reasonLine(reason) : w[at] < 0 ? "var(--less)" : "";
          if (path.style.stroke !== stroke) path.style.stroke = stroke;
          placeLine(path, { from, to, bend, thickness });
        }
      }
    }
  }

  /** Returns the sum of the row that needs the most room: 1 for weights, which sum to 1. */
  function fullest({ n, m, w }) {
    if (scene.measure === "weight") return 1;
    const sums = Array.from({ length: n }, (_, q) => w.subarray(q * m, (q + 1) * m).reduce((sum, share) => sum + (Math.abs(share) || 0), 0));
    return Math.max(1, ...sums);
  }

  /** Draws the lines of several heads, one colour per head, side by side where they leave a
   *  word, so that none hides another. */
  function drawOverlay(bend) {
    const { port, rowTop, rowStep, columnTop, columnStep } = layout;
    const { n, m } = scene.matrix;
    const count = scene.overlay.length;
    for (const path of paths.values()) path.remove();
    paths.clear();
    scene.overlay.forEach(({ layer, head, map }, i) => {
      const colour = headColour(head, scene.shape.heads);
      const shift = count > 1 ? (i / (count - 1) - 0.5) * port * 0.8 : 0;
      for (let at = 0; at < n * m; ++at) {
        const [q, k] = [Math.floor(at / m), at % m];
        const size = Math.abs(map.w[at]);
        if (map.masked[at] || !(size >= least()) || size === 0) continue;
        const path = lineAt(placeOfLine(q, k, i), q, k);
        path.style.stroke = colour;
        path.dataset.layer = layer;
        path.dataset.head = head;
        path.append(makeSvg("title", { text: `${headName(scene.kind, layer, head)}: ${shownNumber(map.w[at], 2)}` }));
        placeLine(path, { from: rowTop + (q + 0.5) * rowStep + shift,
            to: columnTop + (k + 0.5) * columnStep + shift, bend,
            thickness: Math.max(0.8, Math.min(1, size) * Math.min(6, Math.max(2.5, port / count))) });
      }
    });
  }

  /** Returns the weight below which no line is drawn: the reader's choice, or one that keeps a
   *  map of this size legible. */
  function least() {
    if (state.least !== null) return state.least / 100;
    const most = Math.max(scene.matrix.n, scene.matrix.m);
    return (scene.overlay ? 0.1 : 0) + (most <= 8 ? 0 : most <= 16 ? 0.02 : most <= 40 ? 0.05 : 0.1);
  }

  function lineAt(place, q, k) {
    if (!paths.has(place)) {
      const path = makeSvg("path", { class: "line", "data-column": k });
      groups[q].append(path);
      paths.set(place, path);
    }
    return paths.get(place);
  }

  function dropLine(place) {
    if (paths.has(place)) paths.get(place).remove();
    paths.delete(place);
    return null;
  }

  /** Draws a line from the query's port on the right (`from`) to the key on the left (`to`). */
  function placeLine(path, { from, to, bend, thickness }) {
    path.setAttribute("d", `M0 ${to}C${bend.toFixed(1)} ${to} ${(width - bend).toFixed(1)} ${from.toFixed(2)} ${width} ${from.toFixed(2)}`);
    path.setAttribute("stroke-width", thickness.toFixed(3));
  }

  /** Highlights the lines of one word (or all) and shows their weights. */
  function highlight(active) {
    host.classList.toggle("has-active", active !== null);
    const columnActive = active && active.axis === "column";
    groups.forEach((group, q) => group.classList.toggle("is-active", Boolean(active) && active.axis === "row"
        && active.index === q));
    for (const [place, path] of paths) {
      path.classList.toggle("is-active", Boolean(columnActive) && place % MOST_WORDS === active.index);
    }
    markWords(rowButtons, "row", active, (q) => (columnActive ? [q, active.index] : null));
    markWords(columnButtons, "column", active, (k) =>
        (active && active.axis === "row" ? [active.index, k] : null));
  }

  function markWords(buttons, axis, active, cellOf) {
    const { m, w, masked } = scene.matrix;
    buttons.forEach((button, index) => {
      const locked = state.lock !== null && state.lock.axis === axis && state.lock.index === index;
      button.classList.toggle("is-active", Boolean(active) && active.axis === axis && active.index === index);
      button.classList.toggle("is-locked", locked);
      putAttribute(button, "aria-pressed", locked);
      const value = button.querySelector(".word-value");
      const label = button.querySelector(".word-label");
      const cell = cellOf(index);
      const at = cell ? cell[0] * m + cell[1] : -1;
      const shown = cell && !masked[at];
      putText(value, !cell ? "" : masked[at] ? (masked[at] === 2 ? "–" : "·") : shownNumber(w[at], 2));
      button.classList.toggle("is-masked", Boolean(cell) && !shown);
      putStyle(label, "background-color", shown ? shadeOf(w[at]).css : "");
      putStyle(label, "color", shown ? shadeOf(w[at]).text : "");
    });
  }

  function nameWords() {
    const says = MEASURES[scene.measure];
    rowButtons.forEach((button, q) => {
      const seen = largest("row", q, 3).map(({ index, weight }) =>
          `${scene.columns[index].label} ${shownNumber(weight, 2)}`);
      putAttribute(button, "aria-label", `${spokenRow(scene.rows[q])}: ${scene.measure === "weight" ? "looks at" : says.row.trim()} ${seen.join(", ")}`);
      putAttribute(button, "title", rowLabel(scene.rows[q]));
    });
    columnButtons.forEach((button, k) => {
      const seen = largest("column", k, 3).map(({ index, weight }) =>
          `${rowLabel(scene.rows[index])} ${shownNumber(weight, 2)}`);
      putAttribute(button, "aria-label", `${scene.columns[k].label}: ${scene.measure === "weight" ? "looked at by" : says.column.trim()} ${seen.join(", ")}`);
      putAttribute(button, "title", scene.columns[k].label);
    });
    const first = state.lock || { axis: "row", index: 0 };
    for (const [axis, buttons] of [["row", rowButtons], ["column", columnButtons]]) {
      const stop = axis === first.axis ? first.index : 0;
      buttons.forEach((button, i) => putAttribute(button, "tabindex", i === stop ? 0 : -1));
    }
  }

  function prepare() {
    if (scene.key === drawnKey) return;
    drawnKey = scene.key;
    build();
  }

  /** True if the picture's width differs from the width assumed in a hurry. */
  const wasGuessed = () => Math.abs(measured() - width) > 0.5;

  function placeOf(event) {
    const button = event.target.closest(".word");
    if (!button) return null;
    return { axis: button.classList.contains("word-row") ? "row" : "column",
        index: Number(button.dataset.index) };
  }

  /** Returns the cell of the line under the pointer. */
  function cellOf(event) {
    const line = event.target.closest(".line");
    if (!line) return null;
    const place = line.dataset.head === undefined ? null
        : { layer: Number(line.dataset.layer), head: Number(line.dataset.head), mean: "one" };
    return { q: Number(line.parentNode.dataset.row), k: Number(line.dataset.column), place };
  }

  function onKey(event) {
    const place = placeOf(event);
    if (!place) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const buttons = event.key === "ArrowLeft" ? columnButtons : rowButtons;
      event.preventDefault();
      focusWord(buttons, Math.min(place.index, buttons.length - 1));
      return;
    }
    const buttons = place.axis === "row" ? rowButtons : columnButtons;
    const moved = moveInGrid(event, { row: place.index, column: 0 }, buttons.length, 1);
    if (!moved) return;
    const home = event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : moved.row;
    focusWord(buttons, home);
  }

  function focusWord(buttons, index) {
    buttons.forEach((button, i) => { button.tabIndex = i === index ? 0 : -1; });
    buttons[index].focus();
  }

  function toggleLock(place) {
    const same = state.lock && state.lock.axis === place.axis && state.lock.index === place.index;
    change({ lock: same ? null : place });
    announce(same ? "unlocked" : "locked");
  }

  function start() {
    host = find("lines");
    svg = find("line-picture");
    host.addEventListener("keydown", onKey);
    host.addEventListener("click", (event) => {
      const place = placeOf(event);
      const cell = cellOf(event);
      if (place) toggleLock(place);
      else if (cell) stage.explain(cell.q, cell.k, cell.place);
    });
    host.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      const cell = cellOf(event);
      stage.point(cell ? { axis: "row", index: cell.q, other: cell.k } : placeOf(event));
    });
    host.addEventListener("pointerleave", () => stage.point(null));
    host.addEventListener("focusin", (event) => {
      if (event.target.matches(":focus-visible")) stage.point(placeOf(event));
    });
    host.addEventListener("focusout", () => stage.point(null));
  }

  return { start, prepare, draw, highlight, nameWords, least, widthWith, wasGuessed, focusRow: (q) => focusWord(rowButtons, q) };
})();
