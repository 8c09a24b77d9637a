// The records of the page, and functions that find things in them (docs/json.md describes every
// key).

const KINDS = {
  encoder_self: {
    name: "encoder self-attention", short: "Encoder", side: "encoder",
    says: "Each source word looks at all source words.",
    keys: "looked at (key)", queries: "looks (query)",
  },
  decoder_self: {
    name: "decoder self-attention", short: "Decoder", side: "decoder",
    says: "Each step looks at the words read so far; later ones are masked.",
    keys: "looked at (key)", queries: "being written (query)",
  },
  cross: {
    name: "cross-attention", short: "Cross", side: "decoder",
    says: "To write each word, this head looks at the source words.",
    keys: "looked at (key)", queries: "being written (query)",
  },
};

/** Sentences of the page, each with the moments of a training run at which it was recorded
 *  (usually one): [{text, name, moments: [record, …]}], moments in the order of their updates. */
let sentences = [];

/** The metrics of every head over all sentences (attn-demo.heads), or null. */
let overall = null;
let overallBest = [];

function loadPage(page) {
  if (page.format !== "attn-demo.page" || page.version !== 2) {
    throw new Error(`this page reads attn-demo.page version 2, and found ${page.format} version ${page.version}`);
  }
  for (const curve of page.curves || []) {
    for (const record of page.records.slice(curve.first, curve.end)) record.curve = curve;
  }
  sentences = groupMoments(page.records);
  overall = page.heads || null;
  overallBest = page.best || [];
}

/** Replaces the page's sentences by the moments of a run in progress. */
function loadMoments(moments) {
  sentences = [{ text: moments[0].source.text, name: moments[0].model.name, moments }];
  overall = null;
  overallBest = [];
}

/** Groups records: those of one source text whose weights are from different updates of one run
 *  become moments of one sentence; every other record is a sentence of its own. */
function groupMoments(records) {
  const found = [];
  const runs = new Map();
  for (const record of records) {
    const update = record.model.update;
    const key = JSON.stringify([record.source.text, record.source.ids, record.model.d_model, record.changes]);
    const run = update === undefined ? undefined : runs.get(key);
    if (run && !run.moments.some((other) => other.model.update === update)) {
      run.moments.push(record);
      continue;
    }
    const sentence = { text: record.source.text, name: record.model.name, moments: [record] };
    found.push(sentence);
    if (update !== undefined) runs.set(key, sentence);
  }
  for (const sentence of found) sentence.moments.sort((a, b) => a.model.update - b.model.update);
  return found;
}

/** Returns the changes of an experiment as text; empty for the unchanged model. */
function changesOf(record) {
  return Array.isArray(record.changes) ? record.changes.map(String).join(", ") : "";
}

/** Returns the heads that an experiment changed: [{kind, layer, head}]; head null stands for the
 *  whole layer. */
function changedHeads(record) {
  return (record.changes || []).map((change) => /^(?:without|forced) (encoder|decoder|cross):(\d+)(?::(\d+))?/.exec(change))
    .filter((found) => found !== null).map(([, kind, layer, head]) => ({
      kind: Object.keys(KINDS).find((key) => key.startsWith(kind)), layer: Number(layer),
      head: head === undefined ? null : Number(head) }));
}

/** Returns the record that an experiment started from, which the program writes just before it;
 *  null for other records. */
function beforeOf(index) {
  const before = index > 0 && changesOf(sentences[index].moments[0]) !== "" ? sentences[index - 1].moments[0] : null;
  return before && changesOf(before) === "" ? before : null;
}

/** Returns which part of which line a record covers; empty if it covers a whole line. */
function partOf({ part }) {
  return part ? `line ${part.line}, part ${part.number} of ${part.of}` : "";
}

/** Returns the layers, heads and head_dim of a kind. */
function shapeOf(record, kind) {
  const side = KINDS[kind].side;
  return {
    layers: record.model[`${side}_layers`],
    heads: record.model[`${side}_heads`],
    headDim: record.model[`${side}_head_dim`],
    scale: record.model[`${side}_scale`],
  };
}

/** Returns the decoder's output: a hypothesis of the list, or a branch of the search. */
function hypothesisOf(record, index, branch) {
  if (branch !== null && record.search && record.search.nodes[branch]) return branchOf(record, branch);
  return record.hypotheses[index] || null;
}

/** Returns the indices of the nodes from the start to this one. */
function pathTo(search, index) {
  const path = [];
  for (let at = index; at >= 0; at = search.nodes[at].parent) path.unshift(at);
  return path;
}

/** Returns the indices of the nodes that write these ids, as far as the search contains them. */
function pathOf(search, ids) {
  const path = [];
  for (const id of ids) {
    const parent = path.length > 0 ? path[path.length - 1] : -1;
    const found = search.nodes.findIndex((node) => node.parent === parent && node.id === id);
    if (found < 0) break;
    path.push(found);
  }
  return path;
}

const branches = new WeakMap();  // record → Map of node → hypothesis

/** Returns a branch of the search in the form of a hypothesis; its maps are the rows along its
 *  path. */
function branchOf(record, index) {
  if (!branches.has(record)) branches.set(record, new Map());
  const known = branches.get(record);
  if (!known.has(index)) known.set(index, makeBranch(record, index));
  return known.get(index);
}

function makeBranch(record, index) {
  const nodes = pathTo(record.search, index).map((at) => record.search.nodes[at]);
  const shape = shapeOf(record, "cross");
  const steps = nodes.length;
  const collect = (key, width, widthOf) => Array.from({ length: shape.layers }, (_, layer) =>
    Array.from({ length: shape.heads }, (_, head) => nodes.map((node) => {
      const row = new Float32Array(width);
      row.set(mapRows(node, key, shape, { layer, head, n: 1, m: widthOf(node) })[0]);
      return row;
    })));
  const tokens = nodes.map((node) => node.token);
  const first = record.hypotheses[0];
  const start = first && first.decoder_input.tokens.length > 0 ? first.decoder_input.tokens[0] : "<pad>";
  const last = nodes[steps - 1];
  return {
    branch: index,
    text: tokensText(tokens),
    tokens,
    ids: nodes.map((node) => node.id),
    score: last.score,
    log_probs: nodes.map((node) => node.log_prob),
    ends: last.ends,
    decoder_input: { tokens: [start, ...tokens.slice(0, -1)], ids: [],
      ends: [1, ...(steps > 1 ? nodes[steps - 2].ends : []).map((end) => end + 1)] },
    decoder_self: nodes.every((node) => node.decoder_self) ? collect("decoder_self", steps, (node) => node.step + 1) : [],
    cross: nodes.every((node) => node.cross) ? collect("cross", record.source.tokens.length, () => record.source.tokens.length) : [],
  };
}

/** Joins tokens to the text they represent, without special symbols. */
function tokensText(tokens) {
  return tokens.filter((token) => !isSpecial(token)).join("").replaceAll(WORD_MARK, " ").trim();
}

const unpacked = new WeakMap();  // owner of maps → {kind: all its weights}

/** Returns the rows of one head of `owner`'s maps, which have n rows and m columns. */
function mapRows(owner, kind, shape, { layer, head, n, m }) {
  if (!unpacked.has(owner)) unpacked.set(owner, {});
  const known = unpacked.get(owner);
  if (!known[kind]) known[kind] = unpackMaps(owner[kind], shape.layers * shape.heads, n, m);
  const first = (layer * shape.heads + head) * n;
  return Array.from({ length: n }, (_, q) => known[kind].subarray((first + q) * m, (first + q + 1) * m));
}

/** Returns the rows [query][key] of one head; empty if there are none. */
function rowsOf(record, hypothesis, kind, layer, head) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  const maps = owner && owner[kind];
  if (typeof maps !== "string") return (maps && maps[layer] && maps[layer][head]) || [];
  const { reads, columns } = axesOf(record, hypothesis, kind);
  return mapRows(owner, kind, shapeOf(record, kind), { layer, head, n: reads.length, m: columns.length });
}

/** Returns the additional matrices of linformer, performer or lsh for one kind, or null. */
function approximationOf(record, hypothesis, kind) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  return (owner && owner.approximation && owner.approximation[kind]) || null;
}

/** Returns the tokens on both axes. Rows are the tokens read (and in the decoder also those
 *  written), columns the tokens attended to; linformer's columns are projected keys, mixtures of
 *  tokens. */
function axesOf(record, hypothesis, kind) {
  const source = record.source.tokens;
  const sourceEnds = record.source.ends;
  if (kind === "encoder_self") {
    const mixed = approximationOf(record, hypothesis, kind);
    const mixtures = mixed && mixed.mixtures ? Array.from({ length: mixed.mixtures }, (_, i) => i) : null;
    return { reads: source, writes: null, columns: mixtures ? mixtures.map((i) => `${WORD_MARK}m${i}`) : source, causal: false,
      ends: { reads: sourceEnds, columns: mixtures ? mixtures.map((i) => i + 1) : sourceEnds } };
  }
  const input = hypothesis ? hypothesis.decoder_input : { tokens: [], ends: [] };
  const writes = hypothesis ? hypothesis.tokens : [];
  const causal = kind === "decoder_self";
  return { reads: input.tokens, writes, columns: causal ? input.tokens : source, causal,
    ends: { reads: input.ends, writes: hypothesis ? hypothesis.ends : [],
      columns: causal ? input.ends : sourceEnds } };
}

const decoded = new WeakMap();  // vectors of a kind → {query, key, value}, each a Float32Array

/** Returns the vector of one row; `which` is "query", "key" or "value". Null if no vectors were
 *  recorded. */
function vectorOf(record, hypothesis, kind, which, place) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  const vectors = owner && owner.vectors && owner.vectors[kind];
  if (!vectors || !vectors[which]) return null;
  if (!decoded.has(vectors)) decoded.set(vectors, {});
  const cache = decoded.get(vectors);
  if (!cache[which]) cache[which] = decodeFloats(vectors[which]);
  const { heads, headDim } = shapeOf(record, kind);
  const from = ((place.layer * heads + place.head) * place.rows + place.row) * headDim;
  const found = cache[which].subarray(from, from + headDim);
  return found.length === headDim ? found : null;
}

/** Returns the bias that a head adds to a score by distance, [key − query + keys − 1]; null:
 *  none. */
function relativeBiasOf(record, hypothesis, kind, { layer, head, keys }) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  const vectors = owner && owner.vectors && owner.vectors[kind];
  if (!vectors || !vectors.distances) return null;
  const width = 2 * keys - 1;
  const from = (layer * shapeOf(record, kind).heads + head) * width;
  return decodeFloats(vectors.distances).subarray(from, from + width);
}

/** Decodes base64 of little-endian float32, whatever this machine's byte order. */
function decodeFloats(base64) {
  const binary = atob(base64);
  const view = new DataView(new ArrayBuffer(binary.length));
  for (let i = 0; i < binary.length; ++i) view.setUint8(i, binary.charCodeAt(i));
  const floats = new Float32Array(binary.length >> 2);
  for (let i = 0; i < floats.length; ++i) floats[i] = view.getFloat32(4 * i, true);
  return floats;
}

/** Returns the metrics of every head of a kind, [layer][head], for this sentence or for all;
 *  null if there are none. */
function reportOf(record, hypothesis, kind) {
  const owner = kind === "encoder_self" ? record : hypothesis;
  const report = overall && state.over === "all" ? overall : owner && owner.report;
  const figures = report && report[kind];
  return figures && figures.length > 0 ? figures : null;  // a sentence without tokens has none
}

/** Returns the ranks of the heads that align best, "layer.head" → 1, 2, 3, for this sentence or
 *  for all. */
function bestHeads(hypothesis) {
  const best = overall && state.over === "all" ? overallBest : hypothesis && hypothesis.best;
  return new Map((best || []).map(([layer, head], i) => [headKey(layer, head), i + 1]));
}
