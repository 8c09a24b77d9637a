// The reader's choices. They are kept here and in the address (#kind=cross&layer=2…), so that a
// view can be linked, bookmarked and reached with the back button.

// the first step that reads a word: the start symbol's own vector is all zeros
const FIRST_STEP = 1;

const state = {
  sentence: 0,
  moment: 0,
  hypothesis: 0,
  branch: null,  // a node of the search tree whose path is shown instead of a hypothesis
  kind: "cross",
  layer: 0,
  head: 0,
  // one head; the layer's active heads in colours ("overlay"); or the mean of the active heads, of
  // the "layer" or of "all"
  mean: "one",
  off: { encoder_self: new Set(), decoder_self: new Set(), cross: new Set() },  // "layer.head"
  unit: "tokens",       // or "words"
  view: "both",         // or "lines", "heat"
  shade: "linear",  // or "root": the square root makes small weights easier to see
  digits: "two",        // or "exact", "none"
  why: "weight",  // what colours a cell; or "reason": why a pattern computes it
  measure: "weight",  // what the maps show; or "value", "contribution"
  least: null,  // hundredths of weight below which no line is drawn; null: chosen to suit the map
  word: null,  // the written word whose receipt is shown; null: a word of four letters or more
  step: FIRST_STEP,  // the step of the translation whose next word is shown
  token: null,  // the source token whose residual stream is shown; null: that of the step
  stop: 0,  // the open stage of the residual stream
  lock: null,  // {axis: "row" | "column", index}: a word whose lines stay visible
  cell: null,  // {q, k}: the cell that is explained step by step
  sort: "",  // the report's sort column, with "-" in front for descending order
  over: "one",  // metrics of this sentence, or of "all"
  theme: "auto",        // or "light", "dark"
};

const CHOICES = {
  kind: Object.keys(KINDS),
  mean: ["one", "overlay", "layer", "all"],
  unit: ["tokens", "words"],
  view: ["both", "lines", "heat"],
  shade: ["linear", "root"],
  digits: ["two", "exact", "none"],
  why: ["weight", "reason"],
  measure: Object.keys(MEASURES),
  over: ["one", "all"],
  theme: ["auto", "light", "dark"],
};

const listeners = [];

function onChange(run) {
  listeners.push(run);
}

/** Sets some fields, corrects the others to match, and notifies all views. */
function change(fields) {
  const before = { ...state };
  Object.assign(state, fields);
  // With other axes, a locked word or an explained cell no longer exists.
  const axis = ["sentence", "hypothesis", "branch", "kind", "unit"];
  if (axis.some((key) => state[key] !== before[key])) {
    if (!("lock" in fields)) state.lock = null;
    if (!("cell" in fields)) state.cell = null;
  }
  if (state.sentence !== before.sentence) {
    if (!("moment" in fields)) state.moment = Number.MAX_SAFE_INTEGER;  // clamped to the last one
    if (!("hypothesis" in fields)) state.hypothesis = 0;
    if (!("branch" in fields)) state.branch = null;
  }
  if (state.hypothesis !== before.hypothesis && !("branch" in fields)) state.branch = null;
  clampState();
  scene = makeScene();
  clampCell();
  writeAddress();
  for (const run of listeners) run();
}

function clamp(value, count) {
  return Math.max(0, Math.min(count - 1, Number.isInteger(value) ? value : 0));
}

/** Clamps every index to the range of the records. */
function clampState() {
  state.sentence = clamp(state.sentence, sentences.length);
  const sentence = sentences[state.sentence];
  state.moment = clamp(state.moment, sentence.moments.length);
  const record = sentence.moments[state.moment];
  state.hypothesis = clamp(state.hypothesis, record.hypotheses.length);
  if (!record.search || !record.search.nodes[state.branch]) state.branch = null;
  const { layers, heads } = shapeOf(record, state.kind);
  state.layer = clamp(state.layer, layers);
  state.head = clamp(state.head, heads);
  if (state.least !== null) state.least = clamp(state.least, 51);
}

function clampCell() {
  const fits = (index, count) => Number.isInteger(index) && index >= 0 && index < count;
  const rows = scene.rows.length;
  const columns = scene.columns.length;
  if (state.lock && !fits(state.lock.index, state.lock.axis === "row" ? rows : columns)) state.lock = null;
  if (state.cell && !(fits(state.cell.q, rows) && fits(state.cell.k, columns))) state.cell = null;
}

/** Returns the head that an experiment of this page changed first: {kind, layer, head}, or null. */
function changedHead() {
  const [first] = sentences.flatMap(({ moments }) => changedHeads(moments[0]));
  return first ? { ...first, head: first.head || 0 } : null;
}

/** Returns the initial view: an experiment's result and the head that it changed; otherwise the
 *  head used for the word alignment, the one that the model names, or the last layer's
 *  cross-attention. */
function firstView() {
  const experiment = sentences.findIndex(({ moments }) => changesOf(moments[0]) !== "");
  const sentence = Math.max(0, experiment);
  const [hypothesis] = sentences[sentence].moments[0].hypotheses;
  const kind = hypothesis && hypothesis.tokens.length > 0 ? "cross" : "encoder_self";
  const first = { sentence, moment: Number.MAX_SAFE_INTEGER, kind, layer: Number.MAX_SAFE_INTEGER,
      over: overall ? "all" : "one" };
  const alignment = kind === "cross" && hypothesis.alignment;
  const changed = changedHead();
  if (changed) return { ...first, ...changed };
  const best = alignment && /^cross:(\d+):(\d+)$/.exec(alignment.from);
  if (best) return { ...first, layer: Number(best[1]), head: Number(best[2]) };
  const [named] = (kind === "cross" && sentences[sentence].moments[0].model.alignment_heads) || [];
  return named ? { ...first, layer: named[0], head: named[1] } : first;
}

// The address. Only fields that differ from the initial view are written.

const NUMBERS = ["sentence", "moment", "hypothesis", "branch", "layer", "head", "least", "word", "step", "token", "stop"];

// What the page's address asks for that is no field: a page in a frame, or a measurement.
const flags = location.hash.slice(1).split("&").filter((part) => /^(embed|bench(=\d+)?)$/.test(part));

// The unit that the page begins with: "words" for a page of --words.
let firstUnit = "tokens";

// Other names of values, as the command line has them.
const ALIASES = { kind: { encoder: "encoder_self", decoder: "decoder_self" } };

function addressOf() {
  const parts = [`sentence=${state.sentence}`];
  if (sentences[state.sentence].moments.length > 1) parts.push(`moment=${state.moment}`);
  if (state.hypothesis > 0) parts.push(`hypothesis=${state.hypothesis}`);
  if (state.branch !== null) parts.push(`branch=${state.branch}`);
  if (state.least !== null) parts.push(`least=${state.least}`);
  parts.push(`kind=${state.kind}`, `layer=${state.layer}`, `head=${state.head}`);
  const beginnings = { mean: "one", unit: firstUnit, view: "both", shade: "linear", digits: "two",
      why: "weight", measure: "weight", over: "one", theme: "auto" };
  for (const [key, first] of Object.entries(beginnings)) {
    if (state[key] !== first) parts.push(`${key}=${state[key]}`);
  }
  for (const kind of CHOICES.kind) {
    if (state.off[kind].size > 0) parts.push(`off.${kind}=${[...state.off[kind]].join(",")}`);
  }
  if (state.word !== null) parts.push(`word=${state.word}`);
  if (state.step !== FIRST_STEP) parts.push(`step=${state.step}`);
  if (state.stop > 0) parts.push(`stop=${state.stop}`);
  if (state.token !== null) parts.push(`token=${state.token}`);
  if (state.lock) parts.push(`lock=${state.lock.axis}.${state.lock.index}`);
  if (state.cell) parts.push(`cell=${state.cell.q}.${state.cell.k}`);
  if (state.sort) parts.push(`sort=${state.sort}`);
  parts.push(...flags);
  return "#" + [...parts, ...live.addressParts()].join("&");
}

/** Returns the names and values in an address. */
function partsOf(address) {
  return address.replace(/^#/, "").split("&").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    const [key, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    return { key, value: (ALIASES[key] && ALIASES[key][value]) || value };
  });
}

/** Returns a message for each name or value of an address that the page does not know. */
function problemsOf(address) {
  const known = [...Object.keys(CHOICES), ...NUMBERS, "lock", "cell", "sort", ...CHOICES.kind.map((kind) => `off.${kind}`)];
  return partsOf(address).flatMap(({ key, value }) => {
    if (live.takes(key) || flags.includes(key) || Object.keys(fieldsOf(`${key}=${value}`)).length > 0) return [];
    if (!known.includes(key)) return [`no field “${key}”: ${known.join(", ")}`];
    const names = [...(CHOICES[key] || []), ...Object.keys(ALIASES[key] || {})];
    return [`no ${key} “${value}”: ${CHOICES[key] ? names.join(", ") : NUMBERS.includes(key) ? "a whole number" : "see docs/page.md"}`];
  });
}

/** Returns the fields that an address holds; unknown ones are ignored. */
function fieldsOf(address) {
  const fields = {};
  for (const { key, value } of partsOf(address)) {
    const pair = /^([a-z]+|\d+)\.(\d+)$/.exec(value);
    if (NUMBERS.includes(key) && /^\d{1,9}$/.test(value)) fields[key] = Number(value);
    else if (CHOICES[key] && CHOICES[key].includes(value)) fields[key] = value;
    else if (key === "lock" && pair && ["row", "column"].includes(pair[1])) {
      fields.lock = { axis: pair[1], index: Number(pair[2]) };
    } else if (key === "cell" && pair) fields.cell = { q: Number(pair[1]), k: Number(pair[2]) };
    else if (key === "sort" && /^-?[a-z_]{1,20}$/.test(value)) fields.sort = value;
    else if (key.startsWith("off.") && CHOICES.kind.includes(key.slice(4))) {
      fields.off = fields.off || { ...state.off };
      fields.off[key.slice(4)] = new Set(value.split(",").filter((name) => /^\d{1,4}\.\d{1,4}$/.test(name)));
    }
  }
  return fields;
}

let addressTimer = 0;

/** Writes the address with a short delay, because browsers reject many changes in a row. */
function writeAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const wanted = addressOf();
    if (wanted === location.hash) return;
    try {
      history.replaceState(null, "", wanted);
    } catch {
      // A browser that forbids this for files from disk still shows everything.
    }
  }, 150);
}
