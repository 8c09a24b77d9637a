// The large map: lines and heat map show the same matrix, highlight the same word, and change
// together.

const stage = (() => {
  const MOST_MOVING = 1200;  // cells: a larger map changes without animation
  const DURATION = 260;      // ms
  // {axis, index, other?}: the word or cell under the pointer or with the focus
  let pointed = null;
  let shown = null;  // the matrix on the screen
  let shownKey = "";
  let frame = 0;
  let isBeside = false;

  /** Returns what is highlighted: the word or cell under the pointer, otherwise the locked word. */
  function active() {
    return pointed || (state.lock ? { ...state.lock } : null);
  }

  function point(place) {
    if (JSON.stringify(place) === JSON.stringify(pointed)) return;
    pointed = place;
    refresh();
  }

  const refresh = oncePerFrame(highlight);

  function highlight() {
    if (!scene || !scene.matrix || scene.isEmpty) return;
    const now = active();
    if (wantsLines()) linesView.highlight(now);
    if (wantsHeat()) heatMap.highlight(now);
    writeReadout(now);
  }

  // A frame without room for both side by side shows the heat map alone.
  const wantsLines = () => state.view === "lines" || (state.view === "both" && !(embed.isOn() && !isBeside));
  const wantsHeat = () => state.view !== "lines";

  function drawMatrix(matrix) {
    shown = matrix;
    if (wantsLines()) linesView.draw(matrix);
    if (wantsHeat()) heatMap.draw(matrix);
  }

  /** Animates from the map on the screen to the new one if they have the same words. */
  function moveTo(target) {
    cancelAnimationFrame(frame);
    const from = shown;
    const still = !from || shownKey !== scene.key || calmMotion.matches || printing ||
                  target.w.length > MOST_MOVING || document.hidden || scene.overlay;
    shownKey = scene.key;
    if (still) {
      drawMatrix(target);
      return;
    }
    const begin = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, now - begin) / DURATION);
      const eased = 1 - (1 - part) ** 3;
      if (part >= 1) {
        drawMatrix(target);
      } else {
        const w = target.w.map((weight, i) => from.w[i] + (weight - from.w[i]) * eased);
        drawMatrix({ ...target, w });
        frame = requestAnimationFrame(step);
      }
      highlight();
    };
    frame = requestAnimationFrame(step);
  }

  /** Writes a sentence about the highlighted cell or row. */
  function writeReadout(now) {
    const readout = find("readout");
    const cell = now && now.other !== undefined ? { q: now.index, k: now.other } : null;
    if (cell) {
      const row = scene.rows[cell.q];
      replaceChildren(readout, rowText(row), MEASURES[scene.measure].cell,
          dataText(scene.columns[cell.k].label, { class: "strong" }), ": ",
        make("span", { class: "number strong", text: weightText(cell.q, cell.k) }), reasonText(cell));
    } else if (now) {
      const list = largest(now.axis, now.index, 3);
      const isRow = now.axis === "row";
      const parts = list.flatMap(({ index, weight }, i) => [
        i > 0 ? ", " : "",
        isRow ? dataText(scene.columns[index].label, { class: "strong" }) : rowText(scene.rows[index]),
        " ", make("span", { class: "number", text: shownNumber(weight, 3) }),
      ]);
      replaceChildren(readout, isRow ? rowText(scene.rows[now.index])
          : dataText(scene.columns[now.index].label, { class: "strong" }),
        MEASURES[scene.measure][isRow ? "row" : "column"], parts, isRow ? [restText(now.index), probability(now.index)] : null);
    } else {
      replaceChildren(readout, make("span", { class: "quiet",
          text: "Point at a word or a cell; click a word to lock it, a cell to see how its weight comes about." }));
    }
  }

  /** Returns why a pattern computes a cell. */
  function reasonText({ q, k }) {
    const reason = reasonAt(q * scene.matrix.m + k);
    return reason ? make("span", { class: "quiet", text: ` · ${reason}: ${REASONS[reason] ? REASONS[reason].says : ""}` }) : null;
  }

  /** Returns where the rest of a row's weight went. */
  function restText(q) {
    const outside = externalKeysRow(q);
    return outside === null ? null : make("span", { class: "quiet" },
        ` · ${outside.name} `, make("span", { class: "number", text: fixed(outside.weight, 3) }));
  }

  /** Returns the probability of the token that this step writes. */
  function probability(index) {
    const logProbs = scene.axes.writes && !scene.words && scene.hypothesis.log_probs;
    if (!logProbs || typeof logProbs[index] !== "number") return null;
    return make("span",
        { class: "quiet", text: ` · written with probability ${fixed(Math.exp(logProbs[index]), 3)}` });
  }

  function rowText(row) {
    return make("span", { class: "strong" }, row.writes === null ? dataText(row.reads)
      : [dataText(row.reads, { class: "quiet" }), " → ", dataText(row.writes)]);
  }

  function explain(q, k, place) {
    change({ ...place, cell: { q, k } });
    stepsView.reveal();
    announce("step by step below");
  }

  /** Returns to a cell that was explained. */
  function returnTo(q, k) {
    find("stage").scrollIntoView({ block: "nearest", behavior: "auto" });
    if (wantsHeat()) heatMap.focusCell(q, k);
    else linesView.focusRow(q);
    document.activeElement.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "auto" });
  }

  /** Explains the arrow in the labels of steps by one of them. */
  function stepHint() {
    const step = scene.rows[Math.min(1, scene.rows.length - 1)];
    if (scene.words || !step || step.writes === null || step.reads === step.writes) return "";
    const [reads, writes] = [step.reads, step.writes].map((text) => `“\u2068${text}\u2069”`);  // isolated from the text around it
    return ` The step ${reads} → ${writes} has read ${reads} and writes ${writes}. A cell is a weight; each row sums to 1.`;
  }

  function update() {
    if (shownKey !== scene.key) pointed = null;
    putText(find("stage-title"), scene.title);
    putText(find("stage-name"), scene.name);
    find("stage-name").hidden = scene.name === "";
    putText(find("stage-says"), kindSays() + MEASURES[scene.measure].says + stepHint() + (scene.overlay && wantsHeat() ? " The heat map is the mean of the heads in colours." : "") + restHint() + (scene.words ? "" : pieceHint()) + offHint() + emptyHint());
    find("word-rule").hidden = !scene.words;
    putText(find("heat-title"), `Row ↓ ${KINDS[scene.kind].queries} · column → ${KINDS[scene.kind].keys}`);
    showRests();
    showCaution();
    const nothing = scene.tooLarge ? `A map of ${scene.record.source.tokens.length} tokens is too large for this page; the record holds what was computed (seen.${scene.kind}.weights).`
      : scene.isEmpty ? "There is nothing to look at: the sentence has no words here."
      : scene.matrix === null ? "All heads are switched off: there is no mean to show." : "";
    putText(find("stage-empty"), nothing);
    find("stage-empty").hidden = nothing === "";
    find("stage-views").hidden = nothing !== "";
    if (nothing !== "") {
      shown = null;
      showOverlay();
      return;
    }
    const beside = arrange();
    if (wantsHeat()) heatMap.prepare(beside && beside.heat);
    if (wantsLines()) {
      linesView.prepare();
      if (!live.hurries()) linesView.nameWords();
    }
    moveTo(scene.matrix);
    highlight();
    drawLegend();
    showLeast();
    showOverlay();
  }

  /** Completes an update made in a hurry: exact widths, and names and cells that are only for
   *  screen readers. */
  function finish() {
    if (!scene || !shown || !scene.matrix) return;
    if (wantsLines() && linesView.wasGuessed()) redraw();
    else if (wantsHeat()) heatMap.fill();
    if (wantsLines()) linesView.nameWords();
  }

  /** Shows the slider for the minimum weight of lines. */
  function showLeast() {
    find("least-box").hidden = !wantsLines();
    const percent = Math.round(linesView.least() * 100);
    find("least").value = String(percent);
    putAttribute(find("least"), "aria-valuetext", `lines from weight ${fixed(percent / 100, 2)}`);
    putText(find("least-says"), percent === 0 ? "all" : fixed(percent / 100, 2));
  }

  /** Shows which colour is which head; a click switches a head on or off. */
  function showOverlay() {
    const host = find("overlay-heads");
    host.hidden = state.mean !== "overlay";
    if (host.hidden) return;
    replaceChildren(host, Array.from({ length: scene.shape.heads }, (_, head) => {
      const on = isOn(scene.kind, state.layer, head);
      const dot = make("span", { class: "overlay-dot", "aria-hidden": "true" });
      dot.style.backgroundColor = on ? headColour(head, scene.shape.heads) : "";
      return make("button", { type: "button", class: "overlay-head", "aria-pressed": String(on), "data-head": head,
        on: { click: () => {
          toggleHead(state.layer, head);
          find("overlay-heads").querySelector(`[data-head="${head}"]`).focus();
        } } }, dot, headName(scene.kind, state.layer, head));
    }));
  }

  /** Explains a head that rests on special symbols such as </s>. */
  function showRests() {
    const note = find("rests");
    const resting = restingPlace();
    note.hidden = !resting;
    if (!resting) return;
    replaceChildren(note, "This head rests on ", dataText(resting.label, { class: "strong" }), ": on average ",
        make("span", { class: "number", text: fixed(resting.weight, 2) }),
        " of its weight is there. A head that has nothing to add often looks at such a symbol, whose value changes little. It does not mean that the words come from it. ",
        document.body.classList.contains("is-embed") ? null : make("button", { type: "button", class: "text-button", text: "How to read this", on: { click: openReading } }));
  }

  function openReading() {
    find("reading").open = true;
    find("reading").scrollIntoView({ block: "nearest", behavior: calmMotion.matches ? "auto" : "smooth" });
    find("reading").querySelector("summary").focus({ preventScroll: true });
  }

  /** Says beside the weights what they are not, and where the contribution is shown. */
  function showCaution() {
    find("stage-weight").hidden = scene.measure !== "weight";
    find("to-contribution").hidden = !hasMeasures(scene.record, scene.hypothesis) || measureObstacle(scene.kind, "contribution") !== "";
  }

  /** Returns the special symbol on which most of the weight of the words' rows rests: {label,
   *  weight}, the mean over the rows; or null. */
  function restingPlace() {
    if (!scene.matrix || scene.isEmpty || state.mean !== "one" || scene.measure !== "weight") return null;
    const { m, w, masked } = scene.matrix;
    const written = scene.axes.writes || scene.axes.reads;
    // A row that sees one key alone has no choice.
    const rows = scene.rows.map((_, q) => q).filter((q) => !isSpecial(written[scene.rows[q].first] || "")
        && scene.columns.filter((_column, k) => !masked[q * m + k]).length > 1);
    for (const [k, column] of scene.columns.entries()) {
      if (!isSpecial(scene.axes.columns[column.first] || "") || rows.length === 0) continue;
      const weight = rows.reduce((sum, q) => sum + (w[q * m + k] || 0), 0) / rows.length;
      if (weight > 0.5) return { label: column.label, weight };
    }
    return null;
  }

  /** Returns a sentence on what rows attend to in this kind of attention. */
  function kindSays() {
    const found = approximationOf(scene.record, scene.hypothesis, scene.kind);
    const says = found && found.type === "linformer" ? `Each source word looks at ${plural(scene.columns.length, "mixture")} of all words.`
      : scene.kind === "encoder_self" && scene.matrix && scene.matrix.masked.includes(2)
        ? (found ? "Each source word looks at those with a similar hash." : "Each source word looks at those of its pattern.")
      : state.mean === "one" ? KINDS[scene.kind].says : KINDS[scene.kind].says.replace("this head looks", "these heads look");
    return found && found.type === "performer" ? `${says} Random features estimate these weights.` : says;
  }

  /** Softmax never gives a map of zeros: an experiment has switched the head off. */
  function offHint() {
    const off = scene.matrix && scene.matrix.w.length > 0 && scene.matrix.w.every((weight) => weight === 0);
    return off ? ` Switched off (${printable(changesOf(scene.record))}): it looks nowhere.` : "";
  }

  function emptyHint() {
    return scene.record.source.text.trim() === "" ? " The sentence is empty: the model reads its end symbol alone." : "";
  }

  function restHint() {
    const outside = externalKeysOf(scene.seen);
    return outside ? ` ${capitalised(outside.name)} take the rest of each row: its words sum to less than 1.` : "";
  }

  function pieceHint() {
    const goesOn = (label) => label !== null && label.startsWith(CONTINUATION);
    const any = scene.columns.some((column) => goesOn(column.label)) ||
                scene.rows.some((row) => goesOn(row.reads) || goesOn(row.writes));
    return any ? " ‿ goes on with the word before it." : "";
  }

  function reasonItem(reason) {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = reasonColour(reason, 0.5);
    return make("span", { class: "legend-item", title: REASONS[reason] ? REASONS[reason].says : reason }, swatch, reason);
  }

  let legendKey = "";

  /** Draws the scale of shades, which is the same for every map. */
  function drawScale() {
    const signed = scene.measure === "contribution";
    const key = [state.shade, isDark(), scene.measure, scene.top].join();
    if (key === legendKey) return;
    legendKey = key;
    const canvas = find("legend-scale");
    const context = canvas.getContext("2d");
    const root = state.shade === "root";
    for (let x = 0; x < canvas.width; ++x) {
      const place = x / (canvas.width - 1);
      const share = signed ? 2 * place - 1 : place;
      context.fillStyle = shadeOf(root ? share * Math.abs(share) : share).css;
      context.fillRect(x, 0, 1, canvas.height);
    }
    putText(find("legend-name"), MEASURES[scene.measure].legend);
    putAttribute(find("legend-scale").parentNode, "aria-label", scene.measure === "weight"
      ? "the shade of a weight: from 0, as light as the paper, to 1, the strongest"
      : `the shade of a number: ${signed ? "orange is negative; " : ""}as light as the paper at 0, the strongest at ${computed(scene.top)}`);
    const ticks = signed ? [-1, 0, 1] : root ? [0, 0.05, 0.2, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
    replaceChildren(find("legend-ticks"), ticks.map((share) => {
      const tick = make("span", { class: "tick", text: scene.measure === "weight" ? share : fixed(share * scene.top, scene.top < 2 ? 2 : 1) });
      const place = root ? Math.sign(share) * Math.sqrt(Math.abs(share)) : share;
      tick.style.left = `${(signed ? (place + 1) / 2 : place) * 100}%`;
      return tick;
    }));
  }

  function drawLegend() {
    drawScale();
    find("legend-masked").hidden = !scene.axes.causal;
    find("legend-left-out").hidden = !scene.matrix.masked.includes(2);
    const byReason = scene.seen && state.why === "reason";
    find("legend-reasons").hidden = !byReason;
    if (byReason) replaceChildren(find("legend-reasons"), scene.seen.reasons.map((reason) => reasonItem(reason)));
    find("digits-says").hidden = !wantsHeat() || state.digits === "none" || heatMap.hasNumbers();
  }

  /** Returns how lines and heat map share the width: {heat}, the width of the heat map. Null if
   *  the map then has no room for names or, unlike a map on its own, for numbers. */
  function shares(room, gap) {
    const numbers = heatMap.widthWith(30) <= room;  // the map has room for numbers on its own
    for (const cell of state.digits === "exact" ? [92] : state.digits !== "two" ? [19, 11] : numbers ? [36, 30] : [19, 11]) {
      const map = heatMap.widthWith(cell);
      const spare = room - map - gap - linesView.widthWith(embed.isOn() ? 38 : heatMap.heightWith(cell));
      if (spare >= 0) return { heat: Math.floor(Math.max(map, Math.min(map + spare, room * 0.42))) };
    }
    return null;
  }

  let room = { width: 0, gap: 0 };  // px when last measured: measuring costs a layout

  /** Places lines and heat map side by side if both fit. */
  function arrange() {
    const views = find("stage-views");
    putAttribute(views, "data-view", state.view);
    if (room.width === 0 || !live.hurries()) {
      room = { width: views.clientWidth, gap: parseFloat(getComputedStyle(views).columnGap) || 0 };
    }
    const beside = state.view === "both" && !printing && room.width >= 600 ? shares(room.width, room.gap) : null;
    isBeside = beside !== null;
    views.classList.toggle("is-beside", isBeside);
    find("lines").hidden = !wantsLines();
    find("heat").hidden = !wantsHeat();
    return beside;
  }

  /** Redraws everything for another width or other colours. */
  function redraw() {
    if (!scene || !shown || !scene.matrix) return;
    cancelAnimationFrame(frame);
    const beside = arrange();
    if (wantsHeat()) heatMap.prepare(beside && beside.heat);
    if (wantsLines()) linesView.prepare();
    drawMatrix(scene.matrix);
    highlight();
    drawLegend();
  }

  function start() {
    linesView.start();
    heatMap.start();
    find("to-contribution").addEventListener("click", () => {
      controls.chooseMeasure("contribution");
      find("stage").focus({ preventScroll: true });
    });
    find("to-reading").addEventListener("click", openReading);
    find("least").addEventListener("input", (event) => change({ least: Number(event.target.value) }));
    const again = oncePerFrame(redraw);
    let [width, height] = [0, 0];
    new ResizeObserver(([{ contentRect }]) => {
      // Its height follows its contents, except in a frame.
      if (contentRect.width !== width || (embed.isOn() && contentRect.height !== height)) again();
      [width, height] = [contentRect.width, contentRect.height];
    }).observe(find("stage"));
  }

  return { start, update, finish, redraw, point, explain, returnTo };
})();
