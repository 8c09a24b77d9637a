// The step-by-step computation of the chosen cell. Numbers are recomputed here from the recorded
// vectors and shown beside the recorded ones.

const stepsView = (() => {
  const MOST_DIMENSIONS = 10;  // dimensions of a vector; longer ones are cut in the middle
  const MOST_WORDS = 9;  // words of a row
  let host = null;
  const open = { vectors: false, row: false };

  // ---- small pieces

  function number(value, digits = 4) {
    return make("span", { class: "number", text: fixed(value, digits) });
  }

  function step(index, title, says, ...content) {
    return make("li", { class: "step" },
      make("h3", {}, make("span", { class: "step-number", "aria-hidden": "true", text: index }), title),
      make("p", { class: "step-says" }, says), content);
  }

  function moreButton(which, label) {
    return make("button", { type: "button", class: "text-button", "aria-expanded": String(open[which]),
        text: label,
      on: { click: () => {
        open[which] = !open[which];
        update();
        const again = host.querySelector(`[data-more="${which}"]`);
        if (again) again.focus();
      } }, "data-more": which });
  }

  /** Draws vectors one below the other, one column per dimension, cut in the middle if there are
   *  many. */
  function vectorTable(caption, rows, sumRow) {
    const count = rows[0].values.length;
    const shown = cutMiddle(count, open.vectors ? count : MOST_DIMENSIONS);
    const cellsOf = (row) => shown.map((i) => (i === null
      ? make("td", { class: "gap", text: "…" })
      : make("td", { class: "number", "data-exact": row.exact ? shortest(row.values[i]) : undefined,
          title: row.exact ? shortest(row.values[i]) : computed(row.values[i]),
          text: fixed(row.values[i], 3) })));
    const more = count > MOST_DIMENSIONS
      ? moreButton("vectors", open.vectors ? "cut in the middle" : `show all ${count} numbers`) : null;
    return make("div", {},
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        make("table", { class: "vectors" },
          make("caption", { class: "unseen", text: caption }),
          make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "quiet", text: "column" }),
            shown.map((i) => (i === null ? make("th", { class: "gap", text: "…" })
                : make("th", { scope: "col", class: "quiet number", text: i }))))),
          make("tbody", {}, rows.map((row) => make("tr", { class: row.strong ? "strong-row" : "" },
            make("th", { scope: "row" }, row.label), cellsOf(row)))))),
      more, sumRow);
  }

  /** Draws each dimension's product as a bar up or down, to show which dimensions make query and
   *  key match. */
  function bars(values, label) {
    const height = 64;
    const top = Math.max(1e-12, ...Array.from(values, Math.abs));
    const wide = 100 / values.length;
    return makeSvg("svg", { class: "bars", viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none",
        role: "img", "aria-label": label },
      Array.from(values, (value, i) => {
        const tall = (Math.abs(value) / top) * (height / 2 - 2);
        return makeSvg("rect", { class: value < 0 ? "down" : "up", x: (i * wide + wide * 0.12).toFixed(3),
            width: (wide * 0.76).toFixed(3),
          y: (value < 0 ? height / 2 : height / 2 - tall).toFixed(2),
              height: Math.max(0.4, tall).toFixed(2) });
      }),
      makeSvg("line", { x1: 0, x2: 100, y1: height / 2, y2: height / 2 }));
  }

  function equation(...parts) {
    return make("p", { class: "equation" }, parts);
  }

  // ---- one head, with vectors

  function pieceLabels() {
    const { axes } = scene;
    return { rows: tokenLabels(axes.reads), columns: tokenLabels(axes.columns) };
  }

  function fullSteps(steps) {
    const labels = pieceLabels();
    const queryName = () => dataText(labels.rows[steps.q], { class: "strong" });
    const keyName = () => dataText(labels.columns[steps.k], { class: "strong" });
    const { k, headDim } = steps;
    const hidden = steps.masked[k];
    const more = steps.distances ? 1 : 0;
    const dot = make("span", { class: "result", "data-step": "dot", text: computed(steps.dots[k]) });
    const scaled = make("span", { class: "result", "data-step": "scaled",
        text: computed(steps.dots[k] * steps.scale) });
    const scaleText = steps.scale === 1 ? "This model does not scale: × 1."
      : `Long vectors have large products; dividing by √head_dim = √${headDim} keeps softmax from giving nearly all weight to one word.`;
    return make("ol", { class: "steps" },
      step(1, "Query times key", ["The query of ", queryName(), " meets the key of ", keyName(),
        `: ${headDim} products, one a column of this head, are added up.`],
        bars(steps.products, "the products of all columns as bars"),
        vectorTable("query, key and their products", [
          { label: ["q ", queryName()], values: steps.query, exact: true },
          { label: ["k ", keyName()], values: steps.key, exact: true },
          { label: "q × k", values: steps.products, strong: true },
        ], equation("q · k = ", dot))),
      step(2, "Scaled", scaleText,
        equation(computed(steps.dots[k]), " × ", make("span",
            { "data-step": "scale", text: shortest(steps.scale) }), " = ", scaled)),
      steps.distances ? step(3, "Biased by distance",
          ["This model adds no positions to its words: the head has learned a number for each distance from query to key, here ",
            make("span", { class: "strong", text: (k > steps.q ? "+" : "") + String(k - steps.q) }), "."],
          bars(steps.byDistance, "what this head adds by distance"),
          make("p", { class: "quiet", text: `What this head adds, from distance ${1 - steps.weights.length} on the left to ${
            steps.byDistance.length - steps.weights.length} on the right.` }),
          equation(computed(steps.dots[k] * steps.scale), " + ", make("span", { "data-step": "distance",
              text: shortest(steps.distances[k]) }), " = ", make("span", { class: "result", "data-step": "biased",
              text: computed(steps.biased[k]) }))) : null,
      step(3 + more, "Masked", hidden && steps.hiddenText(k) !== "masked"
        ? "The pattern leaves this word out: nothing is computed here, as if −∞ were added."
        : steps.bias[k] !== 0
        ? `This key counts ${shortest(Math.round(1000 * Math.exp(steps.bias[k])) / 1000)} times: the logarithm of that is added.`
        : scene.axes.causal
        ? (hidden ? "This word is not written yet when the step looks: −∞ is added, and e^−∞ is 0."
                  : "This word is already there when the step looks: 0 is added.")
        : "Nothing is masked in this kind: 0 is added.",
        equation(computed(steps.biased[k]), " + ", hidden ? "−∞" : steps.bias[k] !== 0 ? computed(steps.bias[k]) : "0", " = ",
          make("span", { class: "result", "data-step": "masked", text: hidden ? "−∞"
              : computed(steps.scores[k]) }))),
      step(4 + more, "Softmax over the row",
          [`Every score of the row becomes e^(score − largest), and is divided by the sum of all${steps.own > 0
            ? `, ${steps.outside} among them` : ""}: the row adds up to 1.`],
        softmaxTable(steps, labels.columns),
        equation(computed(steps.powers[k]), " ÷ ", computed(steps.powerSum), " = ",
          make("span", { class: "result", "data-step": "weight", text: computed(steps.shares[k]) }),
          make("span", { class: "quiet" }, "  recorded: ",
              make("span", { "data-step": "recorded", text: shortest(steps.weights[k]) }))),
        changedNote(steps), approximationNote(steps)),
      steps.value ? valueStep(steps, queryName, keyName, 5 + more) : null);
  }

  /** Notes that an experiment overrides softmax, only in the rows that it changes. */
  function changedNote(steps) {
    const changes = changesOf(scene.record);
    const same = steps.weights.every((weight, j) => Math.abs(weight - steps.shares[j]) < 1e-3);
    if (same) return null;
    if (!changes) {
      return make("p", { class: "note", "data-step": "other", text: "The recorded weights are others: this attention makes "
        + "them in another way than by softmax over these scores, and the model went on with those." });
    }
    return make("p", { class: "note", "data-step": "changed" }, "Changed here (", dataText(printable(changes)),
        "): the model went on with the recorded weights, not with those of softmax.");
  }

  /** Notes what this computation omits for attention that is not plain softmax. */
  function approximationNote(steps) {
    const found = approximationOf(scene.record, scene.hypothesis, scene.kind);
    if (!found || found.type === "linformer") return null;
    return make("p", { class: "note", "data-step": "approximation" }, found.type === "performer"
      ? "This head does no softmax: random features estimate it, and the recorded weight is what they amount to."
      : `Keys are the queries, normalized. A key that was compared in several rounds counts once for each, and a token's own key counts only if it was compared with no other; this arithmetic leaves both out${steps.query ? ", the recorded weight does not" : ""}.`);
  }

  function valueStep(steps, queryName, keyName, number) {
    return step(number, "The weighted value", ["The value of ", keyName(),
        " counts with its weight. The sum over all words of the row is what this head gives ", queryName(),
        "."],
      vectorTable("value, weighted value and the head's output", [
        { label: ["v ", keyName()], values: steps.value, exact: true },
        { label: [make("span", { class: "number", text: fixed(steps.weights[steps.k], 3) }), " × v"],
            values: steps.part },
        { label: "Σ over the row", values: steps.output, strong: true },
      ]), steps.own > 0 ? make("p", { class: "note", text: `${capitalised(steps.outside)} add their values with a `
        + "weight of " + computed(steps.own) + " to this; the record does not hold them." }) : null);
  }

  function cutRows(steps) {
    return cutMiddle(steps.weights.length, open.row ? steps.weights.length : MOST_WORDS, steps.k);
  }

  function moreWords(count) {
    return count > MOST_WORDS ? moreButton("row", open.row ? "cut in the middle" : `show all ${count} words`)
        : null;
  }

  function weightBar(weight) {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${Math.max(0, Math.min(1, weight || 0)) * 100}%`;
    return make("td", { class: "bar-cell", "aria-hidden": "true" }, make("span", { class: "bar-room" }, bar));
  }

  /** Returns the weight that the row gives to keys outside the columns. */
  function ownRow(steps, width) {
    if (!(steps.own > 0)) return null;
    const gap = width > 3 ? [make("td"), make("td"), make("td", { class: "number",
      text: steps.powerSum ? computed(steps.powerSum * steps.own) : "" })] : [make("td")];
    return make("tr", { "data-step": "own" }, make("th", { scope: "row", text: steps.outside }), gap,
      make("td", { class: "number", text: shortest(steps.own) }), make("td"));
  }

  function rowTable(caption, heads, steps, columns, cellsOf, sums) {
    const body = cutRows(steps).map((j) => (j === null
      ? make("tr", {}, make("td", { class: "gap", colspan: heads.length + 1, text: "…" }))
      : make("tr", { class: j === steps.k ? "strong-row" : "", "data-column": j },
          make("th", { scope: "row" }, dataText(columns[j])), cellsOf(j), weightBar(steps.weights[j]))));
    return make("div", {},
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        make("table", { class: "row-table" }, make("caption", { class: "unseen", text: caption }),
          make("thead", {}, make("tr", {}, heads.map((head, i) =>
              make("th", { scope: "col", class: i > 0 ? "number" : "", text: head })),
            make("th", { class: "bar-cell", "aria-hidden": "true" }))),
          make("tbody", {}, body), sums ? make("tfoot", {}, ownRow(steps, heads.length),
              make("tr", {}, sums, make("td"))) : null)),
      moreWords(steps.weights.length));
  }

  function softmaxTable(steps, columns) {
    const cell = (text) => make("td", { class: "number", text });
    return rowTable("softmax over the row", ["looks at", "score", "− largest", "e^", "weight"], steps,
        columns,
      (j) => (steps.masked[j] ? [cell("−∞"), cell("−∞"), cell("0"), cell(steps.hiddenText(j))]
        : [cell(fixed(steps.scores[j], 4)), cell(fixed(steps.scores[j] - steps.max, 4)),
            cell(computed(steps.powers[j])), cell(shortest(steps.weights[j]))]),
      [make("th", { scope: "row", text: "sum" }), make("td"), make("td"), cell(computed(steps.powerSum)),
          cell(fixed(sumOf(steps.weights) + steps.own, 6))]);
  }

  // ---- one head, weights alone

  /** Explains how to record vectors; training runs and branches of the search have none. */
  function vectorHint() {
    const given = scene.record.model.update === undefined && state.branch === null;
    return given ? " (translate --vectors with --html or --json puts them in)" : "";
  }

  function weightsAlone(steps) {
    const labels = pieceLabels();
    const cell = (text) => make("td", { class: "number", text });
    const hidden = steps.masked[steps.k];
    return make("div", {},
      make("p", { class: "note", id: "steps-missing",
          text: steps.ownProjections
        ? "A global token: its query, and the keys and values that it looks at, come from projections of its own, which no record holds, so q · k and the weighted value cannot be shown. What follows from the weights alone:"
        : "The vectors of query, key and value are missing in this file" + vectorHint() +
        (scene.hypothesis && scene.hypothesis.branch !== undefined && scene.kind !== "encoder_self"
            ? " for a branch of the search" : "") +
        ", so q · k and the weighted value cannot be shown. What follows from the weights alone:" }),
      approximationNote(steps),
      make("p", {}, hidden && steps.hiddenText(steps.k) !== "masked"
          ? "The pattern leaves this cell out: nothing was computed. Of the row's other words:" : hidden
          ? "The cell is masked: its score became −∞, and e^−∞ is 0. Of the row's other words:" :
        ["Softmax keeps the differences of scores: ln(weight ÷ largest) says how far the score of ",
            dataText(labels.columns[steps.k], { class: "strong" }),
         " lies under the row's largest: ", make("span",
             { class: "result", "data-step": "ratio", text: computed(steps.logRatio[steps.k]) }), "."]),
      rowTable("the row's weights", ["looks at", "score − largest", "weight"], steps, labels.columns,
        (j) => (steps.masked[j] ? [cell("−∞"), cell(steps.hiddenText(j))]
            : [cell(fixed(steps.logRatio[j], 4)), cell(shortest(steps.weights[j]))]),
        [make("th", { scope: "row", text: "sum" }), make("td"), cell(fixed(sumOf(steps.weights) + steps.own, 6))]));
  }

  // ---- cells that were computed from several

  function meanTable(q, k) {
    const at = q * scene.columns.length + k;
    const parts = scene.heads.map((place) => ({ ...place,
        weight: scene.weights.map(place.layer, place.head).w[at] }));
    return make("div", {},
      make("p", {}, `This cell is the mean of ${plural(parts.length, "head")} that are switched on. Choose one for its step-by-step.`),
      make("ul", { class: "parts" }, parts.map(({ layer, head, weight }) => make("li", {},
        make("button", { type: "button", class: "part", "data-layer": layer, "data-head": head,
          on: { click: () => { change({ layer, head, mean: "one" }); announce(scene.title); } } },
          headName(scene.kind, layer, head), number(weight, 4))))),
      equation("mean = ", make("span", { class: "result", "data-step": "mean",
          text: computed(scene.weights.matrix.w[at]) })));
  }

  function mergeTable(q, k) {
    const [row, column] = [scene.rows[q], scene.columns[k]];
    const labels = pieceLabels();
    const pieces = scene.heads.map((place) => scene.weights.pieces(place.layer, place.head));
    const matrix = meanOf(pieces);
    const span = ({ first, end }) => Array.from({ length: end - first }, (_, i) => first + i);
    const names = scene.axes.writes ? tokenLabels(scene.axes.writes) : labels.rows;
    return make("div", {},
      make("p", { text: "This cell merges pieces: summed over the pieces of the key word, averaged over those of the query word." }),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the pieces of this cell" },
          make("table", { class: "row-table" },
        make("caption", { class: "unseen", text: "the pieces of this cell" }),
        make("thead", {}, make("tr", {}, make("td"),
            span(column).map((k) => make("th", { scope: "col", class: "number" },
            dataText(labels.columns[k]))), make("th", { class: "number", text: "sum" }))),
        make("tbody", {}, span(row).map((q) => make("tr", {},
            make("th", { scope: "row" }, dataText(names[q])),
          span(column).map((k) => make("td", { class: "number", text: matrix.masked[q * matrix.m + k]
              ? (matrix.masked[q * matrix.m + k] === 2 ? "not computed" : "masked") : computed(matrix.w[q * matrix.m + k]) })),
          make("td", { class: "number", text: computed(sumOf(span(column).map((k) =>
              matrix.w[q * matrix.m + k]))) })))))),
      equation("mean of the sums = ", make("span",
          { class: "result", "data-step": "merged",
          text: computed(scene.weights.matrix.w[q * scene.columns.length + k]) })),
      make("button", { type: "button", class: "text-button", text: "show the pieces",
        on: { click: () => change({ unit: "tokens", cell: { q: row.first, k: column.first } }) } }));
  }

  function contentOf(q, k) {
    const row = scene.rows[q];
    const column = scene.columns[k];
    const merges = row.end - row.first > 1 || column.end - column.first > 1;
    const content = [];
    if (merges) content.push(mergeTable(q, k));
    if (scene.heads.length > 1) content.push(meanTable(q, k));
    if (content.length > 0) return content;
    const steps = stepsOf(scene.heads[0], row.first, column.first);
    return [steps.query ? fullSteps(steps) : weightsAlone(steps)];
  }

  /** Returns the cell of the largest weight between two words, or of the largest one if there is
   *  none between words: {q, k, words}, `words` true for the first; null for an empty map. */
  function largestCell() {
    const { n, m, w, masked } = scene.weights.matrix;
    const isWord = ({ label, first }, tokens) => !isSpecial(tokens[first] || label);
    const rows = scene.rows.map((row) => isWord(row, scene.axes.writes || scene.axes.reads));
    const columns = scene.columns.map((column) => isWord(column, scene.axes.columns));
    let best = null;
    for (let at = 0; at < n * m; ++at) {
      const [q, k] = [Math.floor(at / m), at % m];
      if (masked[at] || !(w[at] >= 0)) continue;
      const words = rows[q] && columns[k];
      if (!best || (words && !best.words) || (words === best.words && w[at] > w[best.q * m + best.k])) best = { q, k, words };
    }
    return best;
  }

  function update() {
    const cell = scene.isEmpty || !scene.matrix ? null : state.cell || largestCell();
    find("steps").classList.toggle("is-empty", !cell);
    find("steps-close").hidden = !state.cell;
    find("steps-hint").hidden = Boolean(state.cell) || !cell;
    if (cell) putText(find("steps-hint"), `This is the map's largest weight${cell.words ? ", leaving out symbols such as </s> and <pad>" : ""}. Click another cell or line to see how its weight is computed.`);
    if (!cell) {
      find("steps-title").textContent = "";
      replaceChildren(host, make("p", { class: "quiet", text: "There is no weight to explain here." }));
      return;
    }
    const row = scene.rows[cell.q];
    replaceChildren(find("steps-title"), dataText(rowLabel(row)),
        make("span", { class: "quiet", text: " looks at " }),
      dataText(scene.columns[cell.k].label), make("span", { class: "quiet", text: " with " }),
      make("span", { class: "number", id: "steps-weight", text: cellNumber(scene.weights.matrix, cell.q, cell.k, scene.weights.exact) }));
    replaceChildren(host, make("p", { class: "quiet steps-place", text: [scene.weights.title, scene.weights.name].filter(Boolean).join(" · ") }),
        contentOf(cell.q, cell.k));
  }

  /** Scrolls until the steps fill most of the window, but keeps the map in view or, if the map
   *  is tall, the explained cell or, if that is too far up, only ensures that the steps fill at
   *  least two fifths. */
  function reveal() {
    const top = find("switches").checkVisibility() ? find("switches").offsetHeight : 0;
    const steps = find("steps").getBoundingClientRect();
    const wanted = Math.min(steps.top - 0.3 * innerHeight, steps.bottom - innerHeight + 16);
    const map = find("stage-views").getBoundingClientRect().top - top - 8;
    const cell = document.querySelector(".heat-cell.is-explained");
    const past = !cell || steps.top - map <= 0.6 * innerHeight ? map : cell.getBoundingClientRect().top - top - 60;
    const by = Math.max(Math.min(wanted, past), steps.top - 0.6 * innerHeight);
    if (by > 0 || steps.top < top) scrollBy({ top: by, behavior: calmMotion.matches ? "auto" : "smooth" });
  }

  /** Closes the steps, and returns the focus to the cell if it was here. */
  function close() {
    const { q, k } = state.cell;
    const here = document.activeElement === document.body || find("steps").contains(document.activeElement);
    change({ cell: null });
    if (here) stage.returnTo(q, k);
  }

  function start() {
    host = find("steps-content");
    find("steps-close").addEventListener("click", close);
  }

  return { start, update, reveal, close };
})();
