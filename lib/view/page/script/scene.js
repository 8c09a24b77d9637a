// The scene: the state and the records combined into one matrix with its labels. Views draw the
// scene and know neither records nor rules.

/** Returns a matrix of weights: n rows, m columns, `w` row-major, `masked` 1 where a cell does
 *  not exist and 2 where a pattern leaves it out; with a pattern, `why` is the result of
 *  reasonsOf(). */
function matrixOf(rows, causal, n, m, why = null) {
  const matrix = { n, m, w: new Float64Array(n * m), masked: new Uint8Array(n * m), why };
  for (let q = 0; q < n; ++q) {
    const row = rows[q] || [];
    for (let k = 0; k < m; ++k) {
      const weight = row[k];
      matrix.w[q * m + k] = typeof weight === "number" ? weight : NaN;
      if (causal && k > q && weight === 0) matrix.masked[q * m + k] = 1;
      else if (why && why[q * m + k] === 0) matrix.masked[q * m + k] = 2;
    }
  }
  return matrix;
}

/** Returns the cell-by-cell mean of several heads. A cell is masked or left out if it is in all
 *  of them; its reason is that of the first head that has one. */
function meanOf(matrices) {
  const { n, m } = matrices[0];
  const why = matrices[0].why ? new Uint8Array(n * m) : null;
  const mean = { n, m, w: new Float64Array(n * m), masked: new Uint8Array(n * m).fill(2), why };
  for (const matrix of matrices) {
    for (let i = 0; i < n * m; ++i) {
      mean.w[i] += matrix.w[i];
      mean.masked[i] = Math.min(mean.masked[i], matrix.masked[i]);
      if (why && why[i] === 0) why[i] = matrix.why[i];
    }
  }
  for (let i = 0; i < n * m; ++i) mean.w[i] /= matrices.length;
  return mean;
}

/** Merges tokens into words: weights are summed over the tokens of the key word and averaged
 *  over those of the query word. Rows still sum to 1. A cell is masked if all its tokens are.
 *  Contributions are summed over both (`adds`), because the logits of a word's tokens add up. */
function mergeWords(matrix, rowGroups, columnGroups, adds = false) {
  const n = rowGroups.length;
  const m = columnGroups.length;
  const why = matrix.why ? new Uint8Array(n * m) : null;
  const merged = { n, m, w: new Float64Array(n * m), masked: new Uint8Array(n * m).fill(2), why };
  rowGroups.forEach((row, q) => {
    columnGroups.forEach((column, k) => {
      let sum = 0;
      for (let i = row.first; i < row.end; ++i) {
        for (let j = column.first; j < column.end; ++j) {
          sum += matrix.w[i * matrix.m + j];
          merged.masked[q * m + k] = Math.min(merged.masked[q * m + k], matrix.masked[i * matrix.m + j]);
          if (why && why[q * m + k] === 0) why[q * m + k] = matrix.why[i * matrix.m + j];
        }
      }
      merged.w[q * m + k] = adds ? sum : sum / (row.end - row.first);
    });
  });
  return merged;
}

/** Returns the labels of both axes in the chosen unit, and the groups of tokens behind them. */
function labelAxes(axes, words) {
  const single = (tokens) => tokenLabels(tokens).map((label, i) => ({ label, first: i, end: i + 1 }));
  const group = (side) => (words ? wordsOf(axes[side], axes.ends[side]) : single(axes[side]));
  const columns = group("columns");
  if (!axes.writes) {
    const rows = group("reads").map((word) => ({ ...word, reads: word.label, writes: null }));
    return { rows, columns };
  }
  // A step is named by what it writes; a word's first step shows what was read before it.
  const readWords = group("reads");
  const rows = group("writes").map((word) => {
    const read = readWords.find((other) => word.first >= other.first && word.first < other.end);
    return { ...word, reads: read ? read.label : "?", writes: word.label };
  });
  return { rows, columns };
}

function rowLabel(row) {
  return row.writes === null ? row.reads : `${row.reads} → ${row.writes}`;
}

function spokenRow(row) {
  return row.writes === null ? row.reads : `reads ${row.reads}, writes ${row.writes}`;
}

function headKey(layer, head) {
  return `${layer}.${head}`;
}

/** Returns a head's name as commands take it: cross:2:0. */
function headName(kind, layer, head) {
  return `${KINDS[kind].short.toLowerCase()}:${layer}:${head}`;
}

function isOn(kind, layer, head) {
  return !state.off[kind].has(headKey(layer, head));
}

/** Returns the heads that the large map represents: one, or the average of those switched on. */
function shownHeads(shape) {
  if (state.mean === "one") return [{ layer: state.layer, head: state.head }];
  const heads = [];
  for (let layer = 0; layer < shape.layers; ++layer) {
    if (state.mean !== "all" && layer !== state.layer) continue;
    for (let head = 0; head < shape.heads; ++head) {
      if (isOn(state.kind, layer, head)) heads.push({ layer, head });
    }
  }
  return heads;
}

let scene = null;

/** Builds the scene of the whole page, anew when the state changes. */
function makeScene() {
  const sentence = sentences[state.sentence];
  const record = sentence.moments[state.moment];
  const hypothesis = hypothesisOf(record, state.hypothesis, state.branch);
  const shape = shapeOf(record, state.kind);
  const tooLarge = isTooLarge(record, hypothesis, state.kind);
  const axes = tooLarge ? { reads: [], writes: null, columns: [], causal: false, ends: { reads: [], columns: [] } }
    : axesOf(record, hypothesis, state.kind);
  const words = state.unit === "words";
  const { rows, columns } = labelAxes(axes, words);
  const [n, m] = [axes.reads.length, axes.columns.length];
  const heads = shownHeads(shape);
  const measure = measureShown(record, hypothesis, state.kind);
  const measured = measure === "weight" ? null : measuredMaps(record, hypothesis, state.kind, measure);
  /** Returns the numbers of one head: weights, or shares of the largest number of a measure. */
  const numbersOf = (layer, head, of) => {
    if (!of) return rowsOf(record, hypothesis, state.kind, layer, head);
    const first = (layer * shape.heads + head) * n;
    return Array.from({ length: n }, (_, q) => of.w.subarray((first + q) * m, (first + q + 1) * m).map((value) => value / of.top));
  };
  const mapsOf = (of) => {
    const pieces = (layer, head) => matrixOf(numbersOf(layer, head, of), axes.causal, n, m, tooLarge ? null
      : reasonsOf(record, hypothesis, state.kind, { layer, head, n, m }));
    const inUnit = (matrix) => (words ? mergeWords(matrix, rows, columns, of !== null && measure === "contribution") : matrix);
    const map = (layer, head) => inUnit(pieces(layer, head));
    const mean = () => (heads.length > 0 ? inUnit(meanOf(heads.map((h) => pieces(h.layer, h.head)))) : null);
    return { pieces, map, mean };
  };
  const weights = mapsOf(null);
  const shown = measured ? mapsOf(measured) : weights;
  const made = {
    sentence, record, hypothesis, shape, axes, rows, columns, heads, measure,
    /** The weights themselves, whatever the maps show; with their matrix, title, name and `exact`. */
    weights,
    /** The number that 1 stands for in the maps. */
    top: measured ? measured.top : 1,
    kind: state.kind,
    tooLarge,
    seen: patternOf(record, hypothesis, state.kind),
    words,
    merges: words && (rows.length < axes.reads.length || columns.length < axes.columns.length),
    map: shown.map,
    /** Changes when the axes do: the picture of another key cannot be animated into this one. */
    key: JSON.stringify([state.kind, words, state.mean === "overlay", rows.map(rowLabel), columns.map((column) => column.label)]),
  };
  weights.exact = made.heads.length === 1 && !made.merges;
  weights.matrix = weights.mean();
  made.exact = weights.exact && !measured;
  made.matrix = measured ? shown.mean() : weights.matrix;
  made.overlay = state.mean === "overlay" && made.matrix
    ? made.heads.map((place) => ({ ...place, map: made.map(place.layer, place.head) })) : null;
  made.isEmpty = rows.length === 0 || columns.length === 0 || shape.layers === 0;
  weights.title = sceneTitle(made);
  weights.name = state.mean === "one" ? headName(made.kind, state.layer, state.head) : "";
  made.title = measured ? weights.title.replace(KINDS[made.kind].name, `$&, ${MEASURES[measure].name}`) : weights.title;
  made.name = measure === "weight" || weights.name === "" ? weights.name : measure === "value" ? `${weights.name}@value` : "";
  return made;
}

function sceneTitle({ kind, heads, shape }) {
  const { name } = KINDS[kind];
  if (state.mean === "one") return `${name} · layer ${state.layer} · head ${state.head}`;
  const where = state.mean !== "all" ? `layer ${state.layer}` : `${plural(shape.layers, "layer")}`;
  if (state.mean === "overlay") return `${name} · ${where} · ${plural(heads.length, "head")} in colours`;
  return `${name} · ${where} · mean of ${plural(heads.length, "head")}`;
}

/** Returns a number of a matrix as text: as recorded (`exact`), or with six significant digits if it
 *  was computed here. `top` is what 1 stands for. */
function cellNumber({ m, w, masked }, q, k, exact, top = 1) {
  const at = q * m + k;
  if (masked[at]) return masked[at] === 2 ? "not computed" : "masked";
  return exact ? shortest(w[at]) : computed(w[at] * top);
}

/** Returns the number of a cell of the scene as text. */
function weightText(q, k) {
  return cellNumber(scene.matrix, q, k, scene.exact, scene.top);
}

/** Returns a number of the maps with this many decimals. */
function shownNumber(share, digits) {
  return fixed(share * scene.top, digits);
}

/** Returns the largest weights of a row or a column as [{index, weight}], largest first. */
function largest(axis, index, count) {
  const { n, m, w, masked } = scene.matrix;
  const found = [];
  for (let i = 0; i < (axis === "row" ? m : n); ++i) {
    const at = axis === "row" ? index * m + i : i * m + index;
    if (!masked[at] && w[at] === w[at]) found.push({ index: i, weight: w[at] });
  }
  return found.sort((a, b) => b.weight - a.weight).slice(0, count);
}
