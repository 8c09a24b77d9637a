// The residual stream of one token through the model, stage by stage, with the vectors of the
// forward pass. Does not use the document.

const residualVectors = new WeakMap();  // a stage of a record → all its rows, as a Float32Array

/** Returns the vector of one token at one stage; null if the record is cut short. */
function residualVector(step, row) {
  if (!residualVectors.has(step)) residualVectors.set(step, decodeFloats(step.values));
  const found = residualVectors.get(step).subarray(row * step.columns, (row + 1) * step.columns);
  return found.length === step.columns && found.length > 0 ? found : null;
}

const SUBLAYERS = {
  encoder_self: { name: "self-attention", kind: "encoder_self" },
  decoder_self: { name: "masked self-attention", kind: "decoder_self" },
  cross: { name: "cross-attention", kind: "cross" },
  feed_forward: { name: "feed-forward", kind: null },
};

/** True if a stage is inside a sublayer, beside the residual stream that runs through
 *  all layers. */
function isInsideSublayer({ stage }) {
  return ["position", "normed", "hidden", "added"].includes(stage);
}

function stageTitle({ stage, block }) {
  const name = block ? SUBLAYERS[block].name : "";
  switch (stage) {
    case "token": return "the word’s row of the table";
    case "position": return "its place in the sentence";
    case "embedded": return "embedding";
    case "normed": return `norm, read by ${name}`;
    case "hidden": return "feed-forward, inside";
    case "added": return `${name} adds`;
    case "sum": return "sum";
    case "output": return "norm";
    case "stack_output": return "final norm";
    case "logits": return "logits and probabilities";
    default: return stage;
  }
}

/** Returns the stages of a token: {side, index, stations: [{stage, block, layer, title,
 *  vector}]}. `token` is a source token, or null for the decoder's at `step`. Returns null if
 *  the record has no residual streams. */
function residualStreamOf(record, hypothesis, token, step) {
  const side = token === null ? "decoder" : "encoder";
  const way = token === null ? hypothesis && hypothesis.way : record.way;
  if (!way || way.length === 0) return null;
  const index = token === null ? step : token;
  const stations = way.map((each) => ({ stage: each.stage, block: each.block || null, layer: each.block ? each.layer : -1,
    title: stageTitle(each), vector: residualVector(each, index) })).filter(({ vector }) => vector !== null);
  if (side === "decoder" && hypothesis.alternatives) {
    stations.push({ stage: "logits", block: null, layer: -1, title: stageTitle({ stage: "logits" }), vector: null });
  }
  return { side, index, stations };
}

/** Returns the Euclidean norm, the mean, and the indices of the smallest and largest number. */
function vectorFacts(vector) {
  let smallest = 0;
  let largest = 0;
  vector.forEach((value, i) => {
    if (value < vector[smallest]) smallest = i;
    if (value > vector[largest]) largest = i;
  });
  return { length: Math.sqrt(sumOf(dotProducts(vector, vector))), mean: sumOf(vector) / vector.length, smallest, largest };
}

/** Returns the largest magnitude in the vectors of d_model columns, which gets the full colour. */
function residualScale(stations) {
  let top = 1e-12;
  for (const { stage, vector } of stations) {
    if (!vector || stage === "hidden") continue;
    for (const value of vector) top = Math.max(top, Math.abs(value));
  }
  return top;
}
