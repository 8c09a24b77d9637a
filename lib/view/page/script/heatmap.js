// The large map as a grid of cells. The cells are painted on a canvas. Above it is a grid of
// transparent elements for the keyboard, the pointer and screen readers: every cell of a small map;
// in a large map the cells of the current row.

const heatMap = (() => {
  const MOST_CELLS = 900;  // maximum number of cells that all have elements
  const MOST_PIXELS = 12e6;  // maximum size of the canvas
  const SMALLEST = 11;  // minimum px of a cell
  const LOWEST = 9;  // minimum px of a row in a frame
  const UPRIGHT = 19;  // px of a cell below which column names are vertical
  let grid = null;
  let canvas = null;
  const draft = make("canvas");
  let builtKey = "";
  let kept = { rows: [], columns: [] };  // results of keepChildren()
  let heads = null;            // the row of column names
  let rowElements = [];  // one role="row" per query
  let filled = new Map();      // row → its cells
  let columnHeads = [];
  let at = { row: 0, column: 0 };  // the cell that Tab focuses
  let layout = null;
  let font = 13;  // px of the names
  let ownRoom = 0;  // px of the box when last measured: measuring costs a layout
  let hatch = null;
  let dots = null;  // drawn where a pattern leaves a cell out

  // ---- measuring

  const widest = (labels) => Math.max(0, ...labels.map((label) => textWidth(label, 500))) * (font / 13);

  /** Returns the sizes of the map in this width and, in a frame (embed.js), in this height. */
  function layoutFor(n, m, available, tall) {
    font = tall ? Math.max(10, Math.min(18, Math.floor(0.36 * (tall / (n + 2))))) : 13;
    const headWidth = Math.min(Math.ceil(widest(scene.rows.map(rowLabel))) + 16,
        Math.max(72, available * 0.38));
    const labelWidth = Math.min(widest(scene.columns.map((column) => column.label)), 150);
    const room = available - headWidth - 2;
    const smallest = state.digits === "exact" ? 92 : SMALLEST;
    let width = Math.max(smallest, Math.min(state.digits === "exact" || tall ? 110 : 76, Math.floor(room / m)));
    // labels are horizontal where they fit, otherwise slanted
    const level = labelWidth + 10 <= width;
    let lean = level ? 0 : Math.ceil(labelWidth * 0.71);
    if (!level && width > smallest) width = Math.max(smallest,
        Math.min(width, Math.floor((room - lean) / m)));
    // slanted labels need this distance to avoid overlapping
    const upright = !level && width < UPRIGHT;
    if (upright) lean = 4;
    const top = level ? Math.max(28, Math.ceil(1.3 * font) + 10) : (upright ? labelWidth : lean) + 16;
    const height = tall ? Math.max(LOWEST, Math.min(76, Math.floor((tall - top) / n))) : heightWith(width);
    return { headWidth, width, height, level, upright, top, right: lean, tall, numbers: state.digits !== "none" && width >= 29 && height >= 13 };
  }

  /** Returns the map's width with cells of this width. */
  function widthWith(cell) {
    const label = Math.min(widest(scene.columns.map((column) => column.label)), 150);
    const lean = label + 10 <= cell ? 0 : cell < UPRIGHT ? 4 : Math.ceil(label * 0.71);
    return Math.ceil(widest(scene.rows.map(rowLabel))) + 19 + scene.columns.length * cell + lean;
  }

  /** Returns the row height with cells of this width. */
  function heightWith(cell) {
    return Math.max(16, Math.min(38, cell, state.digits === "exact" ? 30 : cell));
  }

  /** Returns the map's height with rows of the usual height. */
  const usualHeight = () => (layout ? layout.top + scene.rows.length * heightWith(layout.width) : 0);

  // ---- building

  function rowOf(q) {
    return make("div", { class: "heat-row", role: "row", "aria-rowindex": q + 2, "data-row": q }, headerOf(scene.rows[q]));
  }

  function columnOf(k) {
    const { label } = scene.columns[k];
    return make("div", { class: "heat-colhead", role: "columnheader", "aria-colindex": k + 2, title: label }, dataText(label));
  }

  function headerOf(row) {
    const text = row.writes === null ? [dataText(row.reads)]
      : [dataText(row.reads, { class: "quiet" }), make("span", { class: "quiet", text: " → " }),
          dataText(row.writes)];
    return make("div", { class: "heat-rowhead", role: "rowheader", title: rowLabel(row),
        "aria-label": spokenRow(row) }, text);
  }

  /** Builds the map. Existing names stay, because a keystroke changes few of them. Cells are
   *  removed until they are filled again. */
  function build() {
    for (const cells of filled.values()) cells.forEach((cell) => cell.remove());
    filled = new Map();
    if (!heads) {
      heads = make("div", { class: "heat-heads", role: "row", "aria-rowindex": 1 },
        make("div", { class: "heat-corner", role: "columnheader", "aria-colindex": 1 },
            make("span", { class: "unseen", text: "rows look, columns are looked at" })));
      grid.append(heads);
    }
    kept.columns = keepChildren(heads, kept.columns, scene.columns.map(({ label }) => label), columnOf);
    kept.rows = keepChildren(grid, kept.rows, scene.rows.map((row) => JSON.stringify([row.reads, row.writes])), rowOf);
    columnHeads = kept.columns.map(({ node }) => node);
    rowElements = kept.rows.map(({ node }) => node);
    putAttribute(grid, "aria-rowcount", scene.rows.length + 1);
    putAttribute(grid, "aria-colcount", scene.columns.length + 1);
    at = { row: Math.min(at.row, scene.rows.length - 1),
        column: Math.min(at.column, scene.columns.length - 1) };
  }

  function fillRow(q) {
    if (filled.has(q)) return filled.get(q);
    if (scene.matrix.w.length > MOST_CELLS) {
      for (const [other, cells] of filled) {
        cells.forEach((cell) => cell.remove());
        filled.delete(other);
      }
    }
    const cells = scene.columns.map((_, k) =>
      make("div", { class: "heat-cell", role: "gridcell", tabindex: "-1", "aria-colindex": k + 2,
          "data-row": q, "data-column": k }));
    rowElements[q].append(...cells);
    filled.set(q, cells);
    nameCells(q);
    placeCells(q);
    return cells;
  }

  function nameCells(q) {
    const cells = filled.get(q);
    if (!cells) return;
    const row = spokenRow(scene.rows[q]);
    cells.forEach((cell, k) => {
      const text = weightText(q, k);
      cell.dataset.value = text;
      cell.setAttribute("aria-label", `${text}, ${row},${MEASURES[scene.measure].cell}${scene.columns[k].label}`);
      cell.setAttribute("aria-selected", String(Boolean(state.cell) && state.cell.q === q
          && state.cell.k === k));
      cell.classList.toggle("is-explained", Boolean(state.cell) && state.cell.q === q && state.cell.k === k);
      cell.tabIndex = at.row === q && at.column === k ? 0 : -1;
    });
  }

  function placeCells(q) {
    if (!layout || !filled.has(q)) return;
    filled.get(q).forEach((cell, k) => {
      cell.style.left = `${layout.headWidth + k * layout.width}px`;
    });
  }

  /** Updates elements and sizes to match the scene; `share` is the space beside the lines, or
   *  null. */
  function prepare(share) {
    if (scene.key !== builtKey) {
      builtKey = scene.key;
      layout = null;
      build();
    }
    const { n, m } = scene.matrix;
    if (!share && (ownRoom === 0 || !live.hurries())) ownRoom = find("heat").clientWidth;
    const room = share || ownRoom;
    const paper = printing ? Math.min(room, 690) : room;
    layout = layoutFor(n, m, Math.max(220, paper), embed.room());
    for (const [name, value] of [["head", layout.headWidth], ["cell", layout.width], ["row", layout.height],
        ["top", layout.top], ["lean", layout.right], ["font", font]]) {
      putStyle(grid, `--heat-${name}`, `${value}px`);
    }
    putStyle(grid, "width", `${layout.headWidth + m * layout.width + layout.right}px`);
    grid.classList.toggle("is-level", layout.level);
    grid.classList.toggle("is-upright", layout.upright);
    columnHeads.forEach((head, k) => {
      // A vertical comma is hard to see, so punctuation stays horizontal.
      const lies = layout.upright && /^[^\p{L}\p{N}]{1,2}$/u.test(scene.columns[k].label);
      head.classList.toggle("is-lying", lies);
      putStyle(head, "left", `${layout.headWidth + (layout.level || lies ? k : k + 0.5) * layout.width}px`);
    });
    const hidden = layout.headWidth + m * layout.width + layout.right - room;
    find("heat").classList.toggle("has-more", hidden > 4);
    putAttribute(grid, "aria-label", `${scene.title}: heat map, arrow keys move, Enter explains a cell`);
    if (!live.hurries()) fill();
  }

  /** Creates the cells for the keyboard and screen readers; sighted readers see the canvas. */
  function fill() {
    if (scene.matrix.w.length <= MOST_CELLS) scene.rows.forEach((_, q) => fillRow(q));
    else fillRow(at.row);
    for (const q of filled.keys()) { nameCells(q); placeCells(q); }
  }

  // ---- drawing

  function makeHatch(context, scale) {
    const size = Math.round(6 * scale);
    const tile = make("canvas", { width: size, height: size });
    const pen = tile.getContext("2d");
    pen.strokeStyle = themeColor("--hatch");
    pen.lineWidth = scale;
    pen.beginPath();
    for (const shift of [-size, 0, size]) {
      pen.moveTo(shift, size);
      pen.lineTo(shift + size, 0);
    }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  }

  function makeDots(context, scale) {
    const size = Math.round(6 * scale);
    const tile = make("canvas", { width: size, height: size });
    const pen = tile.getContext("2d");
    pen.fillStyle = themeColor("--hatch");
    pen.fillRect(Math.floor(size / 3), Math.floor(size / 3), Math.ceil(1.2 * scale), Math.ceil(1.2 * scale));
    return context.createPattern(tile, "repeat");
  }

  function groundOf(masked, shade, at) {
    if (masked === 2) return dots;
    if (masked === 1) return hatch || shade.css;
    const reason = state.why === "reason" ? reasonAt(at) : null;
    return reason ? reasonColour(reason, scene.matrix.w[at]) : shade.css;
  }

  function draw(matrix) {
    const { n, m, w, masked } = matrix;
    const width = m * layout.width;
    const height = n * layout.height;
    const wanted = printing ? 3 : Math.max(1, window.devicePixelRatio || 1);
    const scale = Math.min(wanted, Math.sqrt(MOST_PIXELS / (width * height)));
    const pixels = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
    if (canvas.width !== pixels.width) canvas.width = pixels.width;
    if (canvas.height !== pixels.height) canvas.height = pixels.height;
    for (const [name, value] of [["width", width], ["height", height], ["left", layout.headWidth], ["top", layout.top]]) {
      putStyle(canvas, name, `${value}px`);
    }
    // Drawn on a separate canvas: text on a canvas in the page would force a layout.
    draft.width = canvas.width;
    draft.height = canvas.height;
    const context = draft.getContext("2d");
    hatch = scene.axes.causal ? makeHatch(context, scale) : null;
    dots = scene.seen ? makeDots(context, scale) : null;
    const byReason = scene.seen && state.why === "reason";
    const ink = themeColor("--ink");
    const edge = (i, size) => Math.round(i * size * scale);
    const gap = layout.width >= 20 ? Math.max(1, Math.round(scale)) : 0;
    const narrow = layout.width < 46;
    const faint = themeColor("--quiet");  // muted, for weights that round to 0
    context.textAlign = "center";
    context.textBaseline = "middle";
    const size = layout.tall ? Math.max(9, Math.min(narrow ? 11 : 17, 0.5 * layout.height)) : narrow ? 11 : 13;
    context.font = `${Math.round(size * scale * 10) / 10}px ${themeColor("--font")}`;
    for (let q = 0; q < n; ++q) {
      const top = edge(q, layout.height);
      const tall = edge(q + 1, layout.height) - top - gap;
      for (let k = 0; k < m; ++k) {
        const left = edge(k, layout.width);
        const wide = edge(k + 1, layout.width) - left - gap;
        const i = q * m + k;
        const shade = shadeOf(w[i]);
        context.fillStyle = groundOf(masked[i], shade, i);
        context.fillRect(left, top, wide, tall);
        const small = Math.abs(w[i]) < 0.005;
        if (!layout.numbers || masked[i] || (narrow && small)) continue;
        context.fillStyle = small ? faint : byReason ? ink : shade.text;
        context.fillText(cellText(w[i]), left + wide / 2, top + tall / 2 + scale * 0.5);
      }
    }
    const shown = canvas.getContext("2d");
    shown.globalCompositeOperation = "copy";
    shown.drawImage(draft, 0, 0);
  }

  function cellText(weight) {
    if (state.digits === "exact" && weight === weight) return scene.exact ? shortest(weight) : computed(weight * scene.top);
    return shownNumber(weight, 2);
  }

  /** Frames the highlighted row or cell. */
  function highlight(active) {
    const row = active && active.axis === "row" ? active.index : -1;
    const column = active && active.axis === "column" ? active.index : active && active.other !== undefined
        ? active.other : -1;
    const lockedRow = state.lock && state.lock.axis === "row" ? state.lock.index : -1;
    const lockedColumn = state.lock && state.lock.axis === "column" ? state.lock.index : -1;
    rowElements.forEach((element, q) => {
      element.classList.toggle("is-active", q === row);
      element.classList.toggle("is-locked", q === lockedRow);
    });
    columnHeads.forEach((element, k) => {
      element.classList.toggle("is-active", k === column);
      element.classList.toggle("is-locked", k === lockedColumn);
    });
  }

  // ---- pointer and keyboard

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const k = Math.floor((event.clientX - box.left) / layout.width);
    const q = Math.floor((event.clientY - box.top) / layout.height);
    const inside = q >= 0 && k >= 0 && q < scene.rows.length && k < scene.columns.length;
    return inside ? { q, k } : null;
  }

  function focusCell(q, k) {
    at = { row: q, column: k };
    const cells = fillRow(q);
    for (const row of filled.keys()) nameCells(row);
    cells[k].focus();
  }

  function onKey(event) {
    const cell = event.target.closest(".heat-cell");
    if (!cell) return;
    const here = { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      stage.explain(here.row, here.column);
      return;
    }
    const place = moveInGrid(event, here, scene.rows.length, scene.columns.length);
    if (place) focusCell(place.row, place.column);
  }

  function onClick(event) {
    const head = event.target.closest(".heat-rowhead, .heat-colhead");
    if (head) {
      const isRow = head.classList.contains("heat-rowhead");
      const index = isRow ? Number(head.parentNode.dataset.row) : columnHeads.indexOf(head);
      const axis = isRow ? "row" : "column";
      const same = state.lock && state.lock.axis === axis && state.lock.index === index;
      change({ lock: same ? null : { axis, index } });
      return;
    }
    const cell = cellAt(event);
    if (!cell) return;
    focusCell(cell.q, cell.k);
    stage.explain(cell.q, cell.k);
  }

  function onPointer(event) {
    if (event.pointerType === "touch" || !layout) return;
    const head = event.target.closest(".heat-rowhead, .heat-colhead");
    const cell = cellAt(event);
    if (head && head.classList.contains("heat-rowhead")) stage.point({ axis: "row",
        index: Number(head.parentNode.dataset.row) });
    else if (head) stage.point({ axis: "column", index: columnHeads.indexOf(head) });
    else stage.point(cell ? { axis: "row", index: cell.q, other: cell.k } : null);
  }

  function start() {
    grid = find("heat-grid");
    canvas = find("heat-canvas");
    const box = find("heat");
    box.addEventListener("pointermove", onPointer);
    box.addEventListener("pointerleave", () => stage.point(null));
    box.addEventListener("click", onClick);
    box.addEventListener("keydown", onKey);
    box.addEventListener("focusin", (event) => {
      const cell = event.target.closest(".heat-cell");
      if (cell && cell.matches(":focus-visible")) {
        stage.point({ axis: "row", index: Number(cell.dataset.row), other: Number(cell.dataset.column) });
      }
    });
    box.addEventListener("focusout", () => stage.point(null));
  }

  return { start, prepare, fill, draw, highlight, widthWith, heightWith, usualHeight, focusCell, hasNumbers: () => layout.numbers,
    rows: () => ({ top: layout.top, height: layout.height }) };
})();
