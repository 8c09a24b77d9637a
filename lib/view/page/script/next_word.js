// The tokens that the model found most probable at each step, as bars, and the reason why the
// search wrote its token.

const nextWordView = (() => {
  let shown = null;  // the hypothesis whose steps are in the strip
  let locked = "";  // the locked row that was followed last

  // ---- what is known of a step

  /** Returns the step's tokens, most probable first: {pieces: [{label, probability, logProb,
   *  logit, id, chosen}], rank, rest}; null if the record does not have them. `rank` is the rank
   *  of the written token, from 0. */
  function stepOf(hypothesis, t) {
    const all = hypothesis && hypothesis.alternatives;
    if (!all || !all.tokens[t]) return null;
    const written = { token: hypothesis.tokens[t], id: hypothesis.ids[t] };
    const pieces = all.tokens[t].map((token, i) => ({
      label: pieceLabel(token), id: all.ids[t][i], logProb: all.log_probs[t][i],
      logit: all.logits ? all.logits[t][i] : undefined, probability: Math.exp(all.log_probs[t][i]),
      chosen: all.ids[t][i] === written.id, rank: i,
    }));
    const rest = 1 - pieces.reduce((sum, piece) => sum + piece.probability, 0);
    const rank = all.ranks[t];
    if (!pieces.some((piece) => piece.chosen)) {
      pieces.push({ label: pieceLabel(written.token), id: written.id, logProb: hypothesis.log_probs[t],
        probability: Math.exp(hypothesis.log_probs[t]), chosen: true, rank });
    }
    return { pieces, rank, rest: Math.max(0, rest), known: all.tokens[t].length };
  }

  /** Returns a token's label: the word itself if it begins one, otherwise marked as a
   *  continuation, whatever precedes it. */
  function pieceLabel(token) {
    if (isSpecial(token) || token.startsWith(WORD_MARK)) return tokenLabels([token])[0];
    return (scene.record.source.tokens.some((other) => other.startsWith(WORD_MARK)) ? CONTINUATION : "")
        + quotedIfBlank(printable(token));
  }

  function probabilityText(probability) {
    const percent = 100 * probability;
    if (percent < 0.0005) return `${percent === 0 ? "0" : percent.toExponential(1)} %`;
    return `${fixed(percent, percent >= 9.995 ? 1 : percent >= 0.0995 ? 2 : 4)} %`;
  }

  // ---- why

  function strong(text) {
    return dataText(text, { class: "strong" });
  }

  /** Returns sentences about the fate of a node of the search, or null without a tree. */
  function fateOf(search, path, t, id) {
    const parent = t === 0 ? -1 : path[t - 1];
    if (!search || parent === undefined) return null;
    const index = search.nodes.findIndex((node) => node.parent === parent && node.id === id);
    if (index < 0) return " The search did not look at it: too many others had a higher sum.";
    const below = (node) => {
      for (let at = node; at >= 0; at = search.nodes[at].parent) if (at === index) return true;
      return false;
    };
    const branch = search.nodes.map((node, at) => ({ node, at })).filter(({ at }) => at >= index && below(at));
    const ended = branch.filter(({ node }) => node.ended).sort((a, b) => b.node.score - a.node.score)[0];
    if (ended) {
      const text = tokensText(pathTo(search, ended.at).map((at) => search.nodes[at].token));
      return [" Its best end in the search was “", dataText(printable(text)), "” with score ",
        make("span", { class: "number", text: fixed(ended.node.score, 3) }), "."];
    }
    const deepest = branch.reduce((a, b) => (b.node.step > a.node.step ? b : a));
    return deepest.at === index && !deepest.node.kept ? " The search dropped it at once."
      : ` The search followed it to step ${deepest.node.step} and dropped it there.`;
  }

  /** Returns why the written token is not the most probable one. */
  function reasonOf(step, t) {
    const { record, hypothesis } = scene;
    const first = step.pieces[0];
    const lost = first.logProb - hypothesis.log_probs[t];
    const decoding = record.decoding || {};
    if (hypothesis.replayed) return "It is not the likeliest: this translation was found before the change, and is looked at under it.";
    if (decoding.given) return "It is not the likeliest: this translation was given (--target), not searched for.";
    if (record.model.ensemble) return `It is not the likeliest here: ${record.model.ensemble.length} models chose together, by the mean of their log-probabilities, and these are the numbers of one of them.`;
    if (!(decoding.beams > 1)) return "It is not the likeliest: the likeliest was forbidden, or the end was forced.";
    const other = record.hypotheses[0] !== hypothesis && hypothesis.branch === undefined;
    return ["It is not the likeliest: it costs ", make("span", { class: "number", text: fixed(lost, 3) }),
      " of log-probability against ", strong(first.label), `. A search with ${decoding.beams} beams does not take the best piece at each step: it keeps the ${decoding.beams} best beginnings, and ranks whole translations by their sum of log-probabilities`,
      decoding.length_penalty === 0 ? "." : " ÷ length^penalty.",
      record.search ? fateOf(record.search, pathOf(record.search, hypothesis.ids), t, first.id) : null,
      other ? " (This is not the first translation of the list; the first one has a higher score.)" : null];
  }

  function whyText(step, t) {
    const { hypothesis } = scene;
    const chosen = step.pieces.find((piece) => piece.chosen);
    const words = ["first", "second", "third"];
    const place = step.rank < 3 ? words[step.rank] : `number ${thousands(step.rank + 1)}`;
    const begin = ["Written: ", strong(chosen.label), ", ",
      step.rank === 0 ? "the likeliest piece" : `${place} of ${thousands(scene.record.model.decoder_vocab_size)}`, ". "];
    if (step.rank > 0) return [...begin, reasonOf(step, t)];
    const second = step.pieces[1];
    if (!second) return begin;
    const odds = chosen.probability / second.probability;
    return [...begin, "It is ", make("span", { class: "number", text: odds >= 10 ? thousands(Math.round(odds)) : fixed(odds, 1) }),
      " times as likely as ", strong(second.label),
      hypothesis.branch === undefined ? "." : ", in this branch."];
  }

  /** Returns where the cross-attention of the best head looks at this step, with a link to it. */
  function lookText(t) {
    const { record, hypothesis } = scene;
    const alignment = hypothesis.alignment && /^cross:(\d+):(\d+)$/.exec(hypothesis.alignment.from);
    const best = (hypothesis.best || [])[0] || (alignment && [Number(alignment[1]), Number(alignment[2])]);
    if (!best) return null;
    const [layer, head] = best.map(Number);
    const row = rowsOf(record, hypothesis, "cross", layer, head)[t];
    if (!row || row.length === 0) return null;
    const labels = tokenLabels(record.source.tokens);
    const order = Array.from(row, (weight, j) => ({ weight, j })).sort((a, b) => b.weight - a.weight).slice(0, 2);
    return [`While writing it, the head that aligns best (${headName("cross", layer, head)}) looks at `,
      order.map(({ weight, j }, i) => [i > 0 ? " and " : "", strong(labels[j]), " ",
        make("span", { class: "number", text: fixed(weight, 3) })]), ". ",
      make("button", { type: "button", class: "text-button", id: "next-look", text: "Show this row",
        on: { click: () => {
          change({ kind: "cross", layer, head, mean: "one", unit: "tokens", lock: { axis: "row", index: t } });
          find("stage").scrollIntoView({ block: "start", behavior: calmMotion.matches ? "auto" : "smooth" });
        } } })];
  }

  // ---- drawing

  function chip(hypothesis, labels, t) {
    const probability = Math.exp(hypothesis.log_probs[t]);
    const ranks = hypothesis.alternatives && hypothesis.alternatives.ranks;
    const fill = make("span", { class: "bar" });
    fill.style.width = `${100 * probability}%`;
    return make("button", { type: "button", class: "next-chip", role: "tab", id: `next-step-${t}`, "data-step-index": t,
        "aria-controls": "next-content",
        "aria-label": `step ${t}: ${labels[t]}, probability ${fixed(probability, 3)}${ranks && ranks[t] > 0 ? `, number ${ranks[t] + 1}` : ""}` },
      make("span", { class: "next-chip-text" }, dataText(labels[t]),
        ranks && ranks[t] > 0 ? make("sup", { class: "quiet number", text: ranks[t] + 1 }) : null),
      make("span", { class: "bar-room" }, fill));
  }

  function drawStrip(hypothesis) {
    const labels = tokenLabels(hypothesis.tokens);
    replaceChildren(find("next-steps"), labels.map((_, t) => chip(hypothesis, labels, t)));
  }

  function markStrip(t) {
    for (const chosen of find("next-steps").children) {
      const here = Number(chosen.dataset.stepIndex) === t;
      chosen.setAttribute("aria-selected", String(here));
      chosen.setAttribute("tabindex", here ? "0" : "-1");
    }
  }

  function barRow(piece) {
    const fill = make("span", { class: "bar" });
    fill.style.width = `${100 * piece.probability}%`;
    return make("tr", { class: piece.chosen ? "is-written" : "", "data-piece": piece.id },
      make("td", { class: "number quiet next-rank", text: thousands(piece.rank + 1) }),
      make("th", { scope: "row" }, dataText(piece.label),
        piece.chosen ? make("span", { class: "written", text: "written" }) : null),
      make("td", { class: "next-bar" }, make("span", { class: "bar-room" }, fill)),
      make("td", { class: "number", "data-probability": piece.probability, title: `probability ${computed(piece.probability)}`,
        text: probabilityText(piece.probability) }),
      make("td", { class: "number quiet", "data-log-prob": exact(piece.logProb), title: "log-softmax, as the record holds it",
        text: fixed(piece.logProb, 3) }));
  }

  function bars(step) {
    const rows = [];
    step.pieces.forEach((piece, i) => {
      if (i === step.known) rows.push(make("tr", {}, make("td", { class: "gap", colspan: 5, text: "…" })));
      rows.push(barRow(piece));
    });
    const others = scene.record.model.decoder_vocab_size - step.known;
    return make("table", { class: "next-table" },
      make("caption", { class: "unseen", text: "the likeliest pieces of this step" }),
      make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col", text: "piece" }), make("td"),
        make("th", { scope: "col", class: "number", text: "probability" }), make("th", { scope: "col", class: "number", text: "log" }))),
      make("tbody", {}, rows),
      others > 0 ? make("tfoot", {}, make("tr", {}, make("td"), make("th", { scope: "row", class: "quiet", text: `the other ${thousands(others)}` }),
        make("td"), make("td", { class: "number quiet", "data-rest": step.rest, text: probabilityText(step.rest) }), make("td"))) : null);
  }

  function sentenceSoFar(t) {
    const text = tokensText(scene.hypothesis.tokens.slice(0, t));
    return make("p", { class: "so-far" }, make("span", { class: "quiet", text: text ? "so far " : "the first word " }), text ? [dataText(printable(text)), " "] : null,
      make("span", { class: "blank", "aria-label": "the next word", text: "?" }));
  }

  function missing() {
    const branch = scene.hypothesis && scene.hypothesis.branch !== undefined;
    return make("p", { class: "note", id: "next-missing", text: branch
      ? "Of a branch of the search the record holds only what the search looked at: see the tree."
      : "This file does not hold the other pieces of each step; records that translate --html or --json writes today do." });
  }

  function drawContent(t) {
    const step = stepOf(scene.hypothesis, t);
    if (!step) {
      replaceChildren(find("next-content"), sentenceSoFar(t), missing());
      return;
    }
    replaceChildren(find("next-content"),
      make("div", { class: "next-columns" },
        make("div", {}, sentenceSoFar(t), bars(step)),
        make("div", { class: "next-why" }, make("h3", { text: "Why this one?" }),
          make("p", { id: "next-reason" }, whyText(step, t)),
          make("p", { class: "quiet" }, lookText(t)),
          make("p", { class: "quiet" }, "The last vector of the step, times the table of all pieces, gives a number for each: its logit. Softmax makes them probabilities. ",
            scene.hypothesis.way ? make("button", { type: "button", class: "text-button", id: "next-way", text: "Walk the way to it", on: { click: () => {
              change({ step: t, token: null, stop: 0 });
              find("way").scrollIntoView({ block: "start", behavior: calmMotion.matches ? "auto" : "smooth" });
            } } }) : null))));
  }

  // ---- which step

  /** Follows a locked row of the decoder's map: the reader means that step. */
  function followLock() {
    const lock = state.lock && state.lock.axis === "row" && scene.kind !== "encoder_self" ? scene.rows[state.lock.index] : null;
    const now = lock ? `${scene.key}.${lock.first}` : "";
    const follow = now !== locked && lock;
    locked = now;
    if (follow) state.step = lock.first;
  }

  function choose(t) {
    change({ step: t, token: null });
    announce(`step ${t}: ${scene.hypothesis.text === undefined ? "" : tokenLabels(scene.hypothesis.tokens)[t]}`);
  }

  function onKey(event) {
    const count = scene.hypothesis.tokens.length;
    const next = moveInGrid(event, { row: 0, column: state.step }, 1, count);
    if (!next) return;
    choose(next.column);
    find(`next-step-${next.column}`).focus();
  }

  function update() {
    const { hypothesis } = scene;
    const none = !hypothesis || hypothesis.tokens.length === 0;
    find("next").hidden = none;
    find("to-next").hidden = none;
    if (none) return;
    followLock();
    state.step = clamp(state.step, hypothesis.tokens.length);
    if (shown !== hypothesis) drawStrip(hypothesis);
    shown = hypothesis;
    markStrip(state.step);
    find("next-content").setAttribute("aria-labelledby", `next-step-${state.step}`);
    drawContent(state.step);
  }

  function start() {
    const host = find("next-steps");
    host.addEventListener("click", (event) => {
      const chosen = event.target.closest(".next-chip");
      if (chosen) choose(Number(chosen.dataset.stepIndex));
    });
    host.addEventListener("keydown", onKey);
  }

  return { start, update, pieceLabel, probabilityText, stepOf };
})();
