// Recomputes one cell of one head from the recorded vectors: softmax(query · keyᵀ · scale + mask) ·
// value (Vaswani et al. 2017, equation 1). Does not use the document.

function dotProducts(a, b) {
  return Float64Array.from(a, (value, i) => value * b[i]);
}

function sumOf(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Returns the computation of the cell (q, k) of one head, in tokens. Without vectors, only what
 *  follows from the weights: `logRatio`, how far each score is below the row's largest. */
function stepsOf(place, q, k) {
  const { record, hypothesis, kind, shape, axes } = scene;
  const { layer, head } = place;
  const rows = rowsOf(record, hypothesis, kind, layer, head);
  const weights = Array.from(axes.columns, (_, j) => {
    const weight = rows[q] && rows[q][j];
    return typeof weight === "number" ? weight : NaN;
  });
  const why = reasonsOf(record, hypothesis, kind, { layer, head, n: axes.reads.length, m: axes.columns.length });
  const future = weights.map((weight, j) => axes.causal && j > q && weight === 0);
  const masked = future.map((hidden, j) => hidden || (why !== null && why[q * axes.columns.length + j] === 0));
  /** Returns the text shown in place of a missing weight. */
  const hiddenText = (j) => (future[j] ? "masked" : "not computed");
  const seen = patternOf(record, hypothesis, kind);
  const outside = externalKeysOf(seen);
  const own = outside ? outside.weights[layer][head][q] : 0;
  const steps = { q, k, layer, head, weights, masked, hiddenText, own, headDim: shape.headDim,
      outside: outside && outside.name };
  if (seen && seen.own_projections && seen.own_projections.includes(q)) {
    steps.ownProjections = true;
    steps.logRatio = logRatios(weights, masked);
    return steps;
  }
  const vector = (which, row, count) => vectorOf(record, hypothesis, kind, which,
      { layer, head, row, rows: count });
  const query = vector("query", q, axes.reads.length);
  const keys = axes.columns.map((_, j) => vector("key", j, axes.columns.length));
  const values = axes.columns.map((_, j) => vector("value", j, axes.columns.length));
  if (!query || keys.includes(null)) {
    steps.logRatio = logRatios(weights, masked);
    return steps;
  }
  const scale = shape.scale;
  const products = keys.map((key) => dotProducts(query, key));
  Object.assign(steps, { query, key: keys[k], products: products[k], scale });
  steps.dots = products.map(sumOf);
  steps.bias = biasOf(seen, { layer, head, q, m: axes.columns.length });
  const count = axes.columns.length;
  const distances = relativeBiasOf(record, hypothesis, kind, { layer, head, keys: count });
  if (distances) {
    steps.distances = axes.columns.map((_, j) => distances[j - q + count - 1]);
    steps.byDistance = axes.causal ? distances.subarray(0, count) : distances;
  }
  steps.biased = steps.dots.map((dot, j) => dot * scale + (distances ? steps.distances[j] : 0));
  steps.scores = steps.biased.map((score, j) => (masked[j] ? -Infinity : score + steps.bias[j]));
  steps.max = Math.max(...steps.scores);
  steps.powers = steps.scores.map((score) => Math.exp(score - steps.max));
  // The record holds the softmax weight of keys outside the sentence, so their share of the sum of
  // exponentials is added.
  steps.powerSum = sumOf(steps.powers) / (1 - own);
  steps.shares = steps.powers.map((power) => power / steps.powerSum);
  if (!values.includes(null)) {
    steps.value = values[k];
    steps.part = Float64Array.from(values[k], (value) => value * weights[k]);
    steps.output = Float64Array.from({ length: shape.headDim }, (_, d) =>
        sumOf(values.map((v, j) => weights[j] * v[d])));
  }
  return steps;
}

/** Returns what the pattern adds to each score of a row: ln c for a key that counts c times. */
function biasOf(seen, { layer, head, q, m }) {
  const bias = new Float64Array(m);
  const runs = seen && seen.bias ? seen.bias[seen.of[layer][head]][q] : [];
  for (let i = 0; i < runs.length; i += 3) bias.fill(runs[i + 2], runs[i], runs[i] + runs[i + 1]);
  return bias;
}

/** Returns ln(weight / largest weight): only differences of scores can be recovered from
 *  softmax. */
function logRatios(weights, masked) {
  const top = Math.max(...weights.filter((weight, j) => !masked[j] && weight === weight));
  return weights.map((weight, j) => (masked[j] ? -Infinity : Math.log(weight / top)));
}

/** Returns the indices 0 … count−1, with a gap (null) in the middle if there are more than
 *  `most`; `keep` and its neighbours stay. */
function cutMiddle(count, most, keep) {
  const all = Array.from({ length: count }, (_, i) => i);
  if (count <= most) return all;
  const head = Math.ceil((most - 1) / 2);
  const tail = count - Math.floor((most - 1) / 2);
  const wanted = all.filter((i) => i < head || i >= tail || (keep !== undefined && Math.abs(i - keep) <= 1));
  return wanted.flatMap((i, at) => (at > 0 && wanted[at - 1] !== i - 1 ? [null, i] : [i]));
}
