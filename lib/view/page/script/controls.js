// The top of the page: the choice of sentence and translation, and the switches above the maps.

const controls = (() => {
  const switches = {};
  let sentenceKey = null;
  let hypothesisKey = "";

  const numbers = (count, what) => Array.from({ length: count }, (_, i) =>
      ({ value: String(i), label: String(i), spoken: `${what} ${i}` }));

  function updateSentences() {
    const picker = find("sentence-picker");
    find("sentences").hidden = sentences.length < 2;
    if (sentenceKey !== sentences) {
      sentenceKey = sentences;
      const several = new Set(sentences.map((sentence) => sentence.name)).size > 1;
      replaceChildren(picker, sentences.map((sentence, i) => {
        const text = Array.from(printable(sentence.text));
        const cut = text.length > 100 ? text.slice(0, 99).join("") + "…" : text.join("");
        return make("option", { value: i, dir: "auto",
            text: [`${i + 1}. ${cut || "(empty)"}`, several ? printable(sentence.name) : "",
                printable(changesOf(sentence.moments[0])), partOf(sentence.moments[0])].filter(Boolean).join(" · ") });
      }));
    }
    picker.value = String(state.sentence);
    find("sentence-count").textContent = `${state.sentence + 1} of ${sentences.length}`;
  }

  /** Returns all parts of a line that was translated in parts: [{source, text, chosen, choose}];
   *  empty if the line was translated in one piece. */
  function partsOnShow() {
    if (live.settings()) return live.parts().map((one, i) => ({ ...one, choose: () => live.want({ part: i + 1 }) }));
    const { part } = scene.record;
    if (!part) return [];
    const all = sentences.map(({ moments: [record] }, sentence) => ({ record, sentence }))
        .filter(({ record }) => record.part && record.part.line === part.line);
    return all.length !== part.of ? [] : all.map(({ record, sentence }) => ({ source: record.source.text,
      text: record.hypotheses.length > 0 ? record.hypotheses[0].text : "", chosen: sentence === state.sentence, choose: () => change({ sentence }) }));
  }

  let parts = [];

  function updateParts() {
    const host = find("parts");
    parts = partsOnShow();
    host.hidden = parts.length === 0;
    // The elements stay when their texts change, so that they keep the focus.
    refill(host, parts.length, () => parts.map((_, i) => [i > 0 ? " " : "", make("label", { class: "line-part" },
        make("input", { type: "radio", name: "part", class: "unseen", on: { change: () => parts[i].choose() } }), dataText(""))]).flat());
    host.querySelectorAll("label").forEach((label, i) => {
      const [input, text] = label.children;
      putText(text, printable(parts[i].text) || "(empty)");
      putAttribute(label, "title", printable(parts[i].source));
      label.classList.toggle("begins-line", i > 0 && /[\n\r\u2028\u2029]/.test(parts[i].gap || ""));
      const isNew = parts[i].chosen && !label.classList.contains("is-chosen");
      input.checked = parts[i].chosen;
      label.classList.toggle("is-chosen", parts[i].chosen);
      if (!isNew) return;
      const below = label.offsetTop + label.offsetHeight - host.clientHeight;
      host.scrollTop = Math.min(label.offsetTop, Math.max(host.scrollTop, below));
    });
  }

  function updateTitle() {
    const { record, hypothesis } = scene;
    const text = printable(record.source.text);
    replaceChildren(find("source-text"), text === ""
        ? make("span", { class: "quiet", text: "(an empty sentence)" }) : dataText(text));
    document.body.classList.toggle("has-long-text", text.length > 90);
    if (!live.hurries()) finish();
    refill(find("facts"), JSON.stringify([record.model, record.changes]),
        () => factsOf(record).map((fact) => make("li", {}, fact)));
    putText(find("lead"), leadOf(record));
    updateHypotheses(record);
    find("branch-chip").hidden = state.branch === null;
    if (state.branch !== null) replaceChildren(find("branch-text"),
        dataText(printable(hypothesis.text) || "(empty)"));
  }

  /** Returns a sentence that says what the page shows. */
  function leadOf(record) {
    const translated = record.hypotheses.length > 0 && record.hypotheses[0].tokens.length > 0;
    return `A Transformer ${translated ? "translated this sentence token by token" : "read this sentence"}. The map shows where one of its attention heads looked.`;
  }

  /** Sets the window's title, late because the browser's own frame waits for it. */
  function finish() {
    const text = printable(scene.record.source.text);
    document.title = `${text === "" ? "An empty sentence" : Array.from(text).slice(0, 80).join("")} · attn-demo`;
  }

  function factsOf(record) {
    const { model } = record;
    const layers = `${model.encoder_layers} + ${model.decoder_layers} layers`;
    const same = model.encoder_heads === model.decoder_heads;
    const heads = same ? plural(model.encoder_heads, "head")
        : `${model.encoder_heads} and ${model.decoder_heads} heads`;
    const dim = model.encoder_head_dim === model.decoder_head_dim ? model.encoder_head_dim
        : `${model.encoder_head_dim} and ${model.decoder_head_dim}`;
    const name = String(model.name || "").split("/").filter(Boolean).pop() || "model";
    const facts = [make("span", { title: printable(model.name || "") }, dataText(printable(name))), layers,
        heads, `d_model ${model.d_model}`, `head_dim ${dim}`];
    if (model.weights === "random") facts.push(make("span",
        { class: "strong",
        text: `random weights${model.seed === null || model.seed === undefined ? "" : ` (seed ${model.seed})`}` }));
    if (model.precision) facts.push(`products in ${printable(model.precision)}`);
    if (model.ensemble) facts.push(make("span",
        { title: model.ensemble.map(printable).join(", "), text: `one of ${model.ensemble.length} models that translate together` }));
    if (model.update !== undefined) facts.push(`update ${thousands(model.update)}`);
    const changes = changesOf(record);
    if (changes) facts.push(make("span", { class: "strong" }, dataText(printable(changes))));
    return facts;
  }

  /** Returns, for translations with the same text, the words whose tokens differ: one text per
   *  hypothesis, mostly "". */
  function piecesThatDiffer(hypotheses) {
    const words = hypotheses.map(({ tokens, ends }) => wordsOf(tokens, ends).map(({ first, end }) =>
        tokens.slice(first, end).map((token, i) => (i > 0 ? CONTINUATION : "") + printable(token.replace(WORD_MARK, ""))).join("")));
    return hypotheses.map((hypothesis, i) => {
      const alike = words.filter((_, j) => j !== i && hypotheses[j].text === hypothesis.text);
      return words[i].filter((word, at) => alike.some((other) => other[at] !== word)).join(", ");
    });
  }

  function updateHypotheses(record) {
    const host = find("hypotheses");
    const key = JSON.stringify(record.hypotheses.map(({ text, score, replayed }) => [text, score, replayed]));
    if (key !== hypothesisKey) {
      hypothesisKey = key;
      const several = record.hypotheses.length > 1;
      const pieces = piecesThatDiffer(record.hypotheses);
      const given = record.decoding && record.decoding.given;
      host.classList.toggle("is-single", !several);
      replaceChildren(host, make("legend", { class: "unseen", text: "translation" }),
          record.hypotheses.map((hypothesis, i) =>
        make("label", { class: "hypothesis" },
          make("input", { type: "radio", name: "hypothesis", value: i, class: several ? "" : "unseen",
              on: { change: () => change({ hypothesis: i, branch: null }) } }),
          several ? make("span", { class: "rank number", text: i + 1 }) : null,
          make("span", { class: "hypothesis-text" }, dataText(printable(hypothesis.text) || "(empty)"),
            pieces[i] ? make("span", { class: "quiet replayed" }, " in pieces: ", dataText(pieces[i])) : null,
            given ? make("span", { class: "quiet replayed", text: " given, not searched for" }) : null,
            hypothesis.replayed ? make("span", { class: "quiet replayed", text: " as before the change" }) : null),
          make("span", { class: "score number",
              title: "the log-probabilities of all pieces, added and divided by length^penalty: 0 is certain" },
            "score ", fixed(hypothesis.score, 4)))));
    }
    host.querySelectorAll("input").forEach((input, i) =>
        { input.checked = state.branch === null && i === state.hypothesis; });
    host.querySelectorAll(".hypothesis").forEach((label, i) =>
        label.classList.toggle("is-chosen", state.branch === null && i === state.hypothesis));
  }

  function updateSwitches() {
    const { layers, heads } = scene.shape;
    const choice = (value, label, hint) => ({ value, label, hint });
    switches.kind.update(CHOICES.kind.map((kind) =>
        ({ value: kind, label: KINDS[kind].short, hint: KINDS[kind].says, spoken: KINDS[kind].name })),
        state.kind);
    switches.layer.update(numbers(layers, "layer"), state.mean === "all" ? null : state.layer);
    switches.head.update(numbers(heads, "head"), state.mean === "one" ? state.head : null);
    switches.mean.update([choice("one", "one head", "the chosen head alone"),
        choice("overlay", "in colours", "the heads of this layer that are on, a colour each"),
        choice("layer", "layer mean", "the mean of this layer's heads that are on"),
      choice("all", "mean of all", "the mean of all heads that are on")], state.mean);
    switches.unit.update([choice("tokens", "subwords"),
        choice("words", "words", "summed over key pieces, averaged over query pieces")], state.unit);
    switches.view.update([choice("both", "both"), choice("lines", "lines"), choice("heat", "heat map")],
        state.view);
    switches.digits.update([choice("none", "none"), choice("two", "0.00"),
        choice("exact", "exact", "the number as the record holds it")], state.digits);
    find("measure").hidden = !hasMeasures(scene.record, scene.hypothesis);
    if (!find("measure").hidden) {
      switches.measure.update(CHOICES.measure.map((measure) => {
        const obstacle = measureObstacle(scene.kind, measure);
        return { value: measure, label: MEASURES[measure].label, hint: obstacle || MEASURES[measure].hint, disabled: obstacle !== "" };
      }), scene.measure);
    }
    find("why").hidden = !scene.seen;
    if (scene.seen) {
      switches.why.update([choice("weight", "weight", "the shade is the weight"),
          choice("reason", "reason", "the colour says why the pattern computes the cell")], state.why);
    }
    find("over").hidden = !overall;
    if (overall) {
      switches.over.update([choice("one", "this sentence"),
          choice("all", `all ${overall.sentences}`, "the figures over all sentences of this page")], state.over);
    }
    switches.shade.update([choice("linear", "weight", "the shade follows the weight"),
        choice("root", "√ weight", "the shade follows the root of the weight, so that small weights are easier to see")], state.shade);
  }

  /** Shows another measure; a live page asks for its maps if the record lacks them. */
  function chooseMeasure(measure) {
    change({ measure });
    if (live.settings() && measure !== scene.measure) live.want({});
  }

  function nextTheme() {
    change({ theme: isDark() ? "light" : "dark" });
    announce(`${isDark() ? "dark" : "light"} colours`);
  }

  // px from which the map has room beside it for all heads; for why this word, too; for more heads
  const WIDE = { plain: matchMedia("(min-width: 860px)"), why: matchMedia("(min-width: 1000px)"), many: matchMedia("(min-width: 1280px)") };

  /** Places why this word and all heads beside the map if there is room, and otherwise around it. */
  function arrange() {
    const many = scene.shape.heads > 8;
    const why = whyView.has();
    document.body.classList.toggle("has-many-heads", many);
    document.body.classList.toggle("has-why", why);
    document.body.classList.toggle("is-wide", WIDE[many ? "many" : why ? "why" : "plain"].matches);
  }

  function update() {
    updateSentences();
    updateParts();
    updateTitle();
    updateSwitches();
    arrange();
    find("fold-says").textContent = scene.title;
    find("theme").textContent = isDark() ? "Light" : "Dark";
  }

  function start() {
    switches.kind = segmented("kind", "Attention", (kind) => change({ kind }));
    switches.layer = segmented("layer", "Layer", (layer) =>
        change({ layer: Number(layer), mean: state.mean === "all" ? "layer" : state.mean }));
    switches.head = segmented("head", "Head", (head) => change({ head: Number(head), mean: "one" }));
    switches.mean = segmented("mean", "Show", (mean) => change({ mean }));
    switches.unit = segmented("unit", "Unit", (unit) => change({ unit }));
    switches.view = segmented("view", "View", (view) => change({ view }));
    switches.digits = segmented("digits", "Numbers", (digits) => change({ digits }));
    switches.measure = segmented("measure", "Maps", chooseMeasure);
    switches.why = segmented("why", "Colour", (why) => change({ why }));
    switches.over = segmented("over", "Over", (over) => change({ over }));
    switches.shade = segmented("shade", "Shade", (shade) => change({ shade }));
    find("sentence-picker").addEventListener("change", (event) =>
        change({ sentence: Number(event.target.value) }));
    for (const query of Object.values(WIDE)) query.addEventListener("change", arrange);
    find("theme").addEventListener("click", nextTheme);
    find("fold").addEventListener("click", () => {
      const open = find("switches").classList.toggle("is-open");
      find("fold").setAttribute("aria-expanded", String(open));
    });
    find("branch-chip-close").addEventListener("click", () => change({ branch: null }));
  }

  return { start, update, finish, nextTheme, chooseMeasure };
})();
