// An experiment compared with the original: both translations, the chosen head's map before and
// after, and the change in every head.

const compareView = (() => {
  const MOST_LISTED = 6;  // maximum number of heads listed, those with the largest change
  const ANOTHER = "another sentence";  // written by the server when two sentences are compared
  let movedKey = "";
  let moved = [];

  /** Returns the hypotheses to compare: the one before, the one on show and, of the record after
   *  the change, the one with the same tokens as before, whose maps can be compared cell by
   *  cell. */
  function pairOf(before) {
    const idsOf = (hypothesis) => JSON.stringify(hypothesis.ids);
    const shown = scene.hypothesis;
    if (!shown || before.hypotheses.length === 0) return null;
    const old = before.hypotheses.find((other) => idsOf(other) === idsOf(shown)) || before.hypotheses[0];
    const same = scene.record.hypotheses.find((other) => idsOf(other) === idsOf(old)) || null;
    return { old, shown, same };
  }

  function matrixAt(record, hypothesis, kind, layer, head) {
    if (isTooLarge(record, hypothesis, kind)) return matrixOf([], false, 0, 0);
    const axes = axesOf(record, hypothesis, kind);
    const [n, m] = [axes.reads.length, axes.columns.length];
    return matrixOf(rowsOf(record, hypothesis, kind, layer, head), axes.causal, n, m,
        reasonsOf(record, hypothesis, kind, { layer, head, n, m }));
  }

  /** Returns how much of a row's attention moved elsewhere, averaged over rows: 0 to 1; null if
   *  the maps have other tokens. */
  function movedBy(before, after) {
    if (before.n !== after.n || before.m !== after.m || before.n === 0) return null;
    let [more, less] = [0, 0];
    for (let i = 0; i < before.w.length; ++i) {
      more += Math.max(0, after.w[i] - before.w[i]);
      less += Math.max(0, before.w[i] - after.w[i]);
    }
    return Math.max(more, less) / before.n;  // a head that is switched off lost all its attention
  }

  /** Returns which rows and columns of a kind's maps correspond before and after: for the same
   *  tokens all cells, otherwise the tokens that both have, in order. `rows` and `columns` are
   *  pairs of indices. Returns null if the page has no maps because of a sparse pattern. */
  function sharedOf(before, pair, kind) {
    const other = pair.same || pair.shown;
    if (isTooLarge(before, pair.old, kind) || isTooLarge(scene.record, other, kind)) return null;
    const [a, b] = [axesOf(before, pair.old, kind), axesOf(scene.record, other, kind)];
    const rows = [a.writes || a.reads, b.writes || b.reads];
    const columns = [a.columns, b.columns];
    const byPlace = scene.record.changes[0] !== ANOTHER && (kind === "encoder_self" || pair.same)
        && rows[0].length === rows[1].length && columns[0].length === columns[1].length;
    const pairs = ([x, y]) => (byPlace ? x.map((_, i) => [i, i]) : common(x, y));
    return { other, axes: a, rows: pairs(rows), columns: pairs(columns), byPlace,
      words: pairs(rows).some(([i]) => !isSpecial(rows[0][i])) };
  }

  /** Returns one side (0: before, 1: after) of one head's map, restricted to what both sides
   *  have. */
  function sharedMatrix(before, pair, shared, { kind, layer, head }, side) {
    const whole = side === 0 ? matrixAt(before, pair.old, kind, layer, head)
      : matrixAt(scene.record, shared.other, kind, layer, head);
    const { rows, columns } = shared;
    const matrix = matrixOf([], false, rows.length, columns.length);
    rows.forEach((row, q) => columns.forEach((column, k) => {
      const from = row[side] * whole.m + column[side];
      matrix.w[q * matrix.m + k] = whole.w[from];
      matrix.masked[q * matrix.m + k] = whole.masked[from];
    }));
    return matrix;
  }

  /** Returns the heads, largest change first. */
  function movedHeads(before, pair) {
    const key = [identityOf(scene.record), identityOf(pair.old), identityOf(pair.same || pair.shown)].join();
    if (key === movedKey) return moved;
    movedKey = key;
    moved = [];
    for (const kind of CHOICES.kind) {
      const shared = sharedOf(before, pair, kind);
      if (!shared || !shared.words) continue;
      const { layers, heads } = shapeOf(before, kind);
      for (let layer = 0; layer < layers; ++layer) {
        for (let head = 0; head < heads; ++head) {
          const place = { kind, layer, head };
          const share = movedBy(sharedMatrix(before, pair, shared, place, 0),
              sharedMatrix(before, pair, shared, place, 1));
          if (share !== null) moved.push({ ...place, share });
        }
      }
    }
    moved.sort((a, b) => b.share - a.share);
    return moved;
  }

  const identities = new WeakMap();
  let lastIdentity = 0;
  function identityOf(object) {
    if (!object) return 0;
    if (!identities.has(object)) identities.set(object, ++lastIdentity);
    return identities.get(object);
  }

  // ---- texts

  /** Returns pairs of indices of the longest common subsequence of two lists. */
  function common(a, b) {
    const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; --i) {
      for (let j = b.length - 1; j >= 0; --j) {
        best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
      }
    }
    const pairs = [];
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      if (a[i] === b[j]) pairs.push([i++, j++]);
      else if (best[i][j + 1] >= best[i + 1][j]) ++j;
      else ++i;
    }
    return pairs;
  }

  /** Returns the words of `text`, each with a flag that is true if the other text lacks it. */
  function wordsAgainst(text, other) {
    const split = (whole) => printable(whole).split(/\s+/u).filter((word) => word !== "");
    const words = split(text);
    const both = new Set(common(words, split(other)).map(([i]) => i));
    return words.map((word, i) => ({ word, alone: !both.has(i) }));
  }

  function textLine(name, hypothesis, other) {
    const words = wordsAgainst(hypothesis.text, other.text).map(({ word, alone }, i) => [i > 0 ? " " : "",
      dataText(word, { class: alone ? "compare-word" : "" })]);
    return [make("span", { class: "quiet", text: name }),
      make("span", { class: "compare-text" }, words.length > 0 ? words : "(empty)"),
      make("span", { class: "score number", text: `score ${fixed(hypothesis.score, 4)}` })];
  }

  // ---- maps

  /** Draws a small map; `cellOf(i)` returns a cell's background and its text. */
  function picture(title, axes, matrix, { room, colourOf, textOf }) {
    const labels = labelAxes(axes, false);
    const rows = labels.rows.map((row) => (room < 300 && row.writes !== null ? row.writes : rowLabel(row)));
    const columns = labels.columns.map((column) => column.label);
    const widest = (texts) => Math.min(170, Math.max(0, ...texts.map((text) => textWidth(text))));
    const left = Math.ceil(widest(rows)) + 8;
    const size = Math.max(9, Math.min(44, Math.floor((room - left - 8) / Math.max(1, matrix.m))));
    const level = widest(columns) + 6 <= size;
    const top = level ? 20 : Math.ceil(widest(columns)) + 6;
    const width = left + matrix.m * size + 2;
    const height = top + matrix.n * size + 2;
    const font = Math.max(8, Math.min(12.5, size * 0.85));
    const cells = [];
    for (let i = 0; i < matrix.w.length; ++i) {
      const [q, k] = [Math.floor(i / matrix.m), i % matrix.m];
      if (matrix.masked[i]) continue;
      const x = left + k * size;
      const y = top + q * size;
      const ground = makeSvg("rect", { x, y, width: size - 1, height: size - 1 },
          makeSvg("title", { text: `${rows[q]} · ${columns[k]}: ${textOf(matrix.w[i], 4)}` }));
      const { fill, ink } = colourOf(matrix.w[i]);
      ground.style.fill = fill;
      ground.style.stroke = "var(--hair)";
      cells.push(ground);
      if (size < 32) continue;
      const text = makeSvg("text", { x: x + size / 2 - 0.5, y: y + size / 2, class: "compare-number",
          "text-anchor": "middle", "dominant-baseline": "central", text: textOf(matrix.w[i], 2) });
      text.style.fill = Math.abs(matrix.w[i]) < 0.005 ? "var(--quiet)" : ink;
      cells.push(text);
    }
    const cut = (label) => (Array.from(label).length > 24 ? Array.from(label).slice(0, 23).join("") + "…" : label);
    return make("figure", { class: "compare-figure" }, make("figcaption", {}, title),
      makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "compare-map",
          "font-size": font, "aria-label": typeof title === "string" ? title : "map" },
        rows.map((label, q) => makeSvg("text", { x: left - 6, y: top + (q + 0.5) * size, "text-anchor": "end",
            "dominant-baseline": "central", text: cut(label) })),
        columns.map((label, k) => {
          const x = left + (k + 0.5) * size;
          return makeSvg("text", level ? { x, y: top - 8, "text-anchor": "middle", text: cut(label) }
              : { x, y: top - 4, "dominant-baseline": "central", text: cut(label),
                transform: `rotate(-90 ${x} ${top - 4})` });
        }), cells));
  }

  const weightLook = {
    colourOf: (weight) => ({ fill: shadeOf(weight).css, ink: shadeOf(weight).text }),
    textOf: (weight, digits) => fixed(weight, digits),
  };

  /** The look of differences, of which the largest has the strongest shade. */
  const differenceLook = (largest) => ({
    colourOf: (difference) => {
      const size = Math.min(1, Math.abs(difference) / largest);
      const part = Math.round(100 * (state.shade === "root" ? Math.sqrt(size) : size));
      return { fill: `color-mix(in srgb, var(${difference < 0 ? "--less" : "--more"}) ${part}%, var(--paper))`,
        ink: "var(--ink)" };
    },
    textOf: (difference, digits) => (difference >= 0.5 * 10 ** -digits ? "+" : "") + fixed(difference, digits),
  });

  function maps(before, pair) {
    const { kind } = scene;
    const { layer, head } = state;
    const room = Math.max(220, (find("compare").clientWidth - 120) / 3);
    const draw = (title, record, hypothesis, look, matrix) => picture(title, axesOf(record, hypothesis, kind),
        matrix || matrixAt(record, hypothesis, kind, layer, head), { room, ...look });
    const after = matrixAt(scene.record, pair.shown, kind, layer, head);
    const off = after.w.length > 0 && after.w.every((weight) => weight === 0);
    const names = sideNames(before);
    const figures = [draw(names[0], before, pair.old, weightLook),
      draw(off ? "after: switched off, it looks nowhere" : names[1], scene.record, pair.shown, weightLook, after)];
    const shared = sharedOf(before, pair, kind);
    if (shared && shared.words) {
      const pick = (list, pairs) => list && pairs.map(([i]) => list[i]);
      const { axes, rows, columns } = shared;
      const old = sharedMatrix(before, pair, shared, { kind, layer, head }, 0);
      const now = sharedMatrix(before, pair, shared, { kind, layer, head }, 1);
      const difference = { ...old, w: now.w.map((weight, i) => weight - old.w[i]) };
      const largest = difference.w.reduce((most, one, i) => (difference.masked[i] || !(Math.abs(one) > most) ? most : Math.abs(one)), 0);
      figures.push(picture(make("span", {}, "difference: ", make("span", { class: "more", text: "more" }), " or ",
          make("span", { class: "less", text: "less" }), ` than ${names[0].replace(/^A: .*/, "A")}`),
        { ...axes, reads: pick(axes.reads, rows), writes: pick(axes.writes, rows), columns: pick(axes.columns, columns) },
        difference, { room, ...differenceLook(largest || 1) }));
      figures[2].append(make("p", { class: "quiet compare-scale", text: largest > 0 ? `largest difference ${fixed(largest, largest < 0.1 ? 3 : 2)}, in the strongest shade` : "no difference" }));
    }
    return figures;
  }

  function says(before, pair) {
    const shared = sharedOf(before, pair, scene.kind);
    if (!shared) return "The maps are too large for this page, so there is no difference to draw.";
    if (!shared.words) return "The two have no word in common, so there is no difference to draw.";
    if (!shared.byPlace) return "The words differ, so the difference is that of the words that both have.";
    if (shared.other === pair.shown || scene.kind === "encoder_self") return "";
    return "The words differ, so the difference is that of the translation before, read again under the change.";
  }

  function headButton({ kind, layer, head, share }) {
    return make("button", { type: "button", class: "compare-head", title: "how much of its rows' attention went elsewhere",
        "aria-pressed": String(kind === scene.kind && layer === state.layer && head === state.head && state.mean === "one"),
        "data-head": `${kind}.${layer}.${head}`,
        on: { click: () => {
          change({ kind, layer, head, mean: "one" });
          const again = find("compare-heads").querySelector(`[data-head="${kind}.${layer}.${head}"]`);
          if (again) again.focus();
        } } },
      `${headName(kind, layer, head)} `,
      make("span", { class: "number quiet", text: `${fixed(100 * share, share < 0.1 ? 1 : 0)} %` }));
  }

  /** Returns buttons for the heads that were changed, and for the others with the largest
   *  change. */
  function headButtons(before, pair) {
    const changed = changedHeads(scene.record);
    const isChanged = (place) => changed.some((one) => one.kind === place.kind && one.layer === place.layer
        && (one.head === null || one.head === place.head));
    const list = movedHeads(before, pair).filter(({ share }) => share > 0.0005);
    const says = (text) => make("span", { class: "quiet", text });
    const listed = (heads) => heads.slice(0, MOST_LISTED).map(headButton);
    const own = list.filter(isChanged);
    const others = list.filter((place) => !isChanged(place));
    return [own.length > 0 ? [says("Changed:"), listed(own)] : null,
      others.length > 0 ? [says(own.length > 0 ? "Of the other heads moved most:" : "Attention that moved most:"), listed(others)]
        : says(own.length > 0 ? "No other head's attention moved."
          : movedHeads(before, pair).length > 0 ? "No head's attention moved." : "")];
  }

  /** Returns the names of both sides: two models, or before and after a change. */
  function sideNames(before) {
    const [change] = scene.record.changes;
    if (!/^model /.test(change)) return ["before", "after"];
    const both = [before, scene.record].map(({ model }) => model);
    const short = both.map(({ name }) => name.split("/").filter(Boolean).pop() || name);
    // Two models in directories of the same name have their whole names.
    const names = short[0] === short[1] && both[0].name !== both[1].name ? both.map(({ name }) => name) : short;
    return names.map((name, i) => printable(`${"AB"[i]}: ${name}${both[i].precision ? ` (${both[i].precision})` : ""}`));
  }

  function update() {
    const before = beforeOf(state.sentence);
    const pair = before && state.branch === null ? pairOf(before) : null;
    find("compare").hidden = !pair;
    if (!pair) return;
    const names = sideNames(before);
    const models = names[0] !== "before";
    putText(find("compare-title"), models ? "Two models" : "Before and after");
    replaceChildren(find("compare-changes"), models ? "" : ["changed: ",
        make("span", { class: "strong" }, dataText(printable(changesOf(scene.record))))]);
    replaceChildren(find("compare-texts"), textLine(names[0], pair.old, pair.shown),
        textLine(names[1], pair.shown, pair.old));
    replaceChildren(find("compare-maps"), maps(before, pair));
    find("compare-says").textContent = says(before, pair);
    find("compare-says").hidden = find("compare-says").textContent === "";
    replaceChildren(find("compare-heads"), headButtons(before, pair));
  }

  function start() {
    const again = oncePerFrame(() => { if (scene && !find("compare").hidden) update(); });
    addEventListener("resize", again);
  }

  return { start, update };
})();
