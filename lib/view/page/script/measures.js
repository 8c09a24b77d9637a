// Other numbers in the place of weights (docs/why.md): the length of what a head adds for a key, and
// what that added to the logit of the token that the row's step writes. The shade is a number's share
// of the largest one of its kind of attention, so that heads can be compared.

const MEASURES = {
  weight: { label: "weights", legend: "Weight", hint: "how much of each word's value the head takes", name: "", says: "",
    row: " looks most at ", column: " is looked at most by ", cell: " looks at " },
  value: { label: "value-weighted", legend: "Length", name: "value-weighted",
    says: " A number is the length of the vector that the head adds for a key.",
    hint: "how long the vector is that the head adds for each word: weight · value · W_O",
    row: " takes most from ", column: " gives most to ", cell: " takes from " },
  contribution: { label: "contribution to the word", legend: "Logit", name: "contribution to the word",
    says: " A number is what the head's vector for a key added to the logit of the token that is written.",
    hint: "what that vector added to the logit of the word that is written; orange is negative",
    row: " gets most of its logit from ", column: " adds most to the logit of ", cell: " gets of its logit from " },
};

const unpackedMeasures = new WeakMap();  // maps of a kind → {measure: {w, top}}

/** Returns the maps of a measure, if the record has them: {w: all numbers, top: the largest size}. */
function measuredMaps(record, hypothesis, kind, measure) {
  const maps = hypothesis && hypothesis.why && hypothesis.why.maps;
  const owner = maps && maps[kind];
  if (!owner || typeof owner[measure] !== "string") return null;
  if (!unpackedMeasures.has(owner)) unpackedMeasures.set(owner, {});
  const known = unpackedMeasures.get(owner);
  if (!known[measure]) {
    const { reads, columns } = axesOf(record, hypothesis, kind);
    const { layers, heads } = shapeOf(record, kind);
    const w = unpackMaps(owner[measure], layers * heads, reads.length, columns.length);
    known[measure] = { w, top: w.reduce((top, value) => Math.max(top, Math.abs(value)), 0) || 1 };
  }
  return known[measure];
}

/** Returns why a kind of maps has no numbers of this measure; empty if it can have them. */
function measureObstacle(kind, measure) {
  return kind === "encoder_self" && measure === "contribution" ? "the encoder writes no words" : "";
}

/** True if the reader can choose what the maps show: the record has maps of measures, or the program
 *  behind the page can make them. */
function hasMeasures(record, hypothesis) {
  if (hypothesis && hypothesis.why && hypothesis.why.maps) return true;
  const settings = live.settings();
  return Boolean(settings && !settings.broken && hypothesis && hypothesis.why);
}

/** Returns the measure on show: the reader's choice if its maps are here, otherwise the weights. */
function measureShown(record, hypothesis, kind) {
  return state.measure !== "weight" && measuredMaps(record, hypothesis, kind, state.measure) ? state.measure : "weight";
}
