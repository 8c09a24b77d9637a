// Why this word? The receipt of a written word as bars: what each source word, each earlier word and
// the rest of the model added to its logit. With a server or the program behind the page, also what
// happens without a word, a comparison with any other word, what each layer would have written, and
// activation patching.

const whyView = (() => {
  const MOST_TOKENS = 40;  // of a source whose words are left out one by one without being asked
  const PAUSE = 250;  // ms after the last change before more is asked for
  let host = null;
  let shown = null;  // {receipts, word}: what is on the screen
  let more = { key: "" };  // answers about the word on show: {key, occlusion, foil, lens, patching}
  let timer = 0;
  let running = null;

  const receiptsOf = () => (scene.hypothesis && scene.hypothesis.why ? scene.hypothesis.why.words : []);

  /** Returns the index of the word on show: the chosen one, or the first one of four letters. */
  function wordIndex(words) {
    if (state.word !== null && state.word < words.length) return state.word;
    const content = words.findIndex(({ text }) => Array.from(text).length > 3);
    return Math.max(0, content);
  }

  const sumOf = (entries) => entries.reduce((sum, { value }) => sum + value, 0);
  const restOf = (sum) => sum.feed_forward + sum.biases + sum.position;
  const totalOf = (sum) => sumOf(sum.source) + sumOf(sum.prefix) + restOf(sum);
  const number = (value, digits = 2) => make("span", { class: "number", text: (value > 0 ? "+" : "") + fixed(value, digits) });

  /** Draws one line: a name, a bar to the right (positive) or left (negative), and the value. */
  function barLine(name, value, most, extra) {
    const bar = make("span", { class: value < 0 ? "why-bar is-negative" : "why-bar" });
    bar.style.width = `${(50 * Math.min(1, Math.abs(value) / most)).toFixed(2)}%`;
    return make("div", { class: "why-line", role: "listitem" }, make("span", { class: "why-name" }, name),
      make("span", { class: "why-room", "aria-hidden": "true" }, bar), number(value), make("span", { class: "why-extra quiet" }, extra || null));
  }

  /** Draws a logit, or a difference of two, as the sum of its parts. */
  function bars(sum, occlusion, label) {
    const rest = restOf(sum);
    const most = Math.max(1e-6, Math.abs(rest), ...[...sum.source, ...sum.prefix].map(({ value }) => Math.abs(value)));
    const falls = new Map((occlusion || []).map((entry, i) => [i, entry]));
    let place = 0;
    const lineOf = (entry, isSource) => {
      const special = isSpecial(entry.text);
      const fall = isSource && !special ? falls.get(place++) : null;
      return barLine(dataText(printable(entry.text), { class: special ? "quiet" : "strong" }), entry.value, most,
        fall ? ["without it ", number(-fall.drop), " · as <unk> ", number(-fall.unk)] : null);
    };
    const part = (title, name, lines) => [make("h3", {}, title), make("div", { role: "list", "aria-label": name }, lines)];
    return make("div", { class: "why-bars", role: "group", "aria-label": label },
      part(["source words", falls.size > 0 ? make("span", { class: "why-extra", text: "; in small print, how the logit changes without the word or with <unk> in its place" }) : null],
          "source words", sum.source.map((entry) => lineOf(entry, true))),
      sum.prefix.length > 0 ? part("words written before", "words written before", sum.prefix.map((entry) => lineOf(entry, false))) : null,
      part("everything else: feed-forwards, biases, position", "everything else", [barLine("rest", rest, most, null)]),
      make("p", { class: "why-sum" }, "sum ", number(totalOf(sum))));
  }

  /** Returns a button for narrow windows: the small print and the runner-up would push the map down. */
  function foldButton(hasNotes) {
    const box = find("receipt");
    const put = (button) => {
      const open = box.classList.contains("has-extra");
      putText(button, open ? "Less about this word" : "More about this word");
      putAttribute(button, "aria-expanded", open);
      return button;
    };
    return put(make("button", { type: "button", class: `text-button why-fold${hasNotes ? " has-notes" : ""}`, on: { click: (event) => {
      box.classList.toggle("has-extra");
      put(event.currentTarget);
    } } }));
  }

  function chip(word, i, chosen) {
    return make("button", { type: "button", class: "next-chip", role: "tab", "aria-selected": String(i === chosen), tabindex: i === chosen ? "0" : "-1",
      "data-word": i, on: { click: () => change({ word: i }) } }, dataText(printable(word.text)));
  }

  function contrast(word) {
    const { foil } = more.foil || word;
    const decided = [...foil.difference.source, ...foil.difference.prefix, { text: "everything else", value: restOf(foil.difference) }]
        .sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 3);
    const title = foil.given ? ["Instead of ", dataText(tokenLabels([foil.text])[0], { class: "strong" })]
      : ["The runner-up was ", dataText(tokenLabels([foil.text])[0], { class: "strong" })];
    return make("div", { class: "why-contrast" },
      make("p", {}, title, ": its score is ", make("span", { class: "number", text: fixed(Math.abs(totalOf(foil.difference)), 2) }), totalOf(foil.difference) < 0 ? " higher" : " lower", ". The largest parts of the difference: ",
        decided.map(({ text, value }, i) => [i > 0 ? ", " : "", dataText(printable(text)), " ", number(value)]), "."),
      live.settings() && !live.settings().broken ? instead() : null,
      more.foil ? bars(foil.difference, null, "what decided between the two") : null);
  }

  function instead() {
    const field = make("input", { type: "text", id: "why-instead", autocomplete: "off", spellcheck: "false" });
    const form = make("form", { class: "why-form", on: { submit: (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text !== "") ask({ methods: ["receipt"], instead: text, summed: true }, (answer) => { more.foil = JSON.parse(answer).words[0]; });
    } } }, make("label", {}, "instead of ", field), make("button", { type: "submit", class: "plain", text: "compare" }));
    const folded = make("details", { class: "why-more" }, make("summary", { text: "Why not another word?" }), form);
    folded.open = Boolean(more.foil);
    return folded;
  }

  /** Draws the words that each layer would have written, if it were the last one. */
  function lensTable({ logit_lens: states, decoder_lens: after }) {
    const names = ["embedding", ...states.slice(1).map((_, i) => `layer ${i}`)];
    const written = tokenLabels(scene.hypothesis.tokens);
    const rows = states.map((steps, l) => make("tr", {}, make("th", { scope: "row", text: names[l] || `layer ${l - 1}` }),
      steps.map((step, t) => make("td", { class: step.ids[0] === scene.hypothesis.ids[t] ? "strong" : "quiet",
        title: `probability ${fixed(Math.exp(step.log_probs[0]), 3)}` }, dataText(tokenLabels([step.tokens[0]])[0])))));
    return [make("p", { class: "quiet", text: "Each state of the decoder, read as if it were the last one (logit lens). In bold: what was written." }),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "logit lens" }, make("table", { class: "vectors" },
        make("thead", {}, make("tr", {}, make("td"), written.map((head) => make("th", { scope: "col" }, dataText(head))))), make("tbody", {}, rows))),
      make("p", { class: "quiet", text: "The whole translation, if the decoder reads the encoder after that many layers (DecoderLens):" }),
      make("ol", { class: "why-lens", start: "0" }, after.map(({ text }) => make("li", {}, dataText(printable(text) || "(empty)"))))];
  }

  /** Draws a grid of recovered shares. */
  function shareGrid(title, rows, rowName, columns) {
    return make("figure", { class: "compare-figure" }, make("figcaption", { text: title }), make("table", { class: "why-grid" },
      make("thead", {}, make("tr", {}, make("td"), columns.map((name) => make("th", { scope: "col" }, dataText(name))))),
      make("tbody", {}, rows.map((row, r) => make("tr", {}, make("th", { scope: "row", text: rowName(r) }), row.map((share, c) => {
        const cell = make("td", { class: "number", title: `${rowName(r)}, ${columns[c]}: ${fixed(100 * share, 1)} % of the difference comes back`,
          text: fixed(share, 2) });
        const part = Math.round(100 * Math.min(1, Math.abs(share)));
        cell.style.background = `color-mix(in srgb, var(${share < 0 ? "--less" : "--more"}) ${part}%, var(--paper))`;
        return cell;
      }))))));
  }

  function patching({ patching: grids, source, target }) {
    const sourceNames = tokenLabels(source.tokens);
    const heads = grids.cross[0].map((_, h) => `head ${h}`);
    return [make("p", { class: "quiet", text: `One value of the run on the original is put into the run on the other sentence. A cell says how much of the difference between “${tokenLabels([target.tokens[grids.step]])[0]}” and what the other sentence writes comes back: 1 is all of it.` }),
      make("div", { class: "why-grids" },
        shareGrid("encoder state", grids.encoder, (l) => `after ${plural(l, "layer")}`, grids.positions.map(([clean]) => sourceNames[clean])),
        shareGrid("decoder state", grids.decoder, (l) => `after ${plural(l, "layer")}`, grids.decoder[0].map((_, t) => tokenLabels([target.tokens[t]])[0])),
        shareGrid("cross-attention head", grids.cross, (l) => `layer ${l}`, heads))];
  }

  function corruptForm() {
    const field = make("input", { type: "text", id: "why-corrupt", autocomplete: "off", spellcheck: "false", value: scene.record.source.text });
    return make("form", { class: "why-form", on: { submit: (event) => {
      event.preventDefault();
      ask({ methods: ["patch"], corrupt: field.value }, (answer) => { more.patching = JSON.parse(answer); });
    } } }, make("label", {}, "the sentence with words swapped ", field), make("button", { type: "submit", class: "plain", text: "patch" }));
  }

  /** Draws what needs the model: opened by the reader. */
  function further() {
    if (!live.settings() || live.settings().broken) return null;
    const lens = make("details", { class: "why-more", id: "why-lens" }, make("summary", { text: "What each layer would have written" }), more.lens ? lensTable(more.lens) : null);
    lens.open = Boolean(more.lens);
    lens.addEventListener("toggle", () => {
      if (lens.open && !more.lens) ask({ methods: ["lens"] }, (answer) => { more.lens = JSON.parse(answer); });
    });
    const patch = make("details", { class: "why-more", id: "why-patch" }, make("summary", { text: "Which part carries a word: swap words and patch" }), corruptForm(),
      more.patching ? patching(more.patching) : null);
    patch.open = Boolean(more.patching);
    return [lens, patch, make("p", { class: "quiet", id: "why-problem", role: "status", text: more.problem || "" })];
  }

  /** Asks about the word on show, and draws the answer if the word is still the same. */
  async function ask(detail, take) {
    const { key } = more;
    if (running) running.abort();
    running = new AbortController();
    try {
      const word = receiptsOf()[wordIndex(receiptsOf())];
      const answer = await live.askWhy({ word: String(word.first), ...detail }, running.signal);
      if (key !== more.key) return;
      more.problem = "";
      take(answer);
    } catch (problem) {
      if (problem.name === "AbortError" || key !== more.key) return;
      more.problem = problem.message;
    }
    draw();
  }

  function draw() {
    const words = receiptsOf();
    if (words.length === 0) return;
    const index = wordIndex(words);
    const word = words[index];
    replaceChildren(find("why-chips"), words.map((one, i) => chip(one, i, index)));
    const probability = Math.exp(word.log_prob);
    replaceChildren(host, make("div", { class: "why-columns" },
      make("div", {}, make("p", {}, dataText(printable(word.text), { class: "strong" }), " was written with probability ",
        make("span", { class: "number", text: fixed(probability, 2) }), ". Its score before softmax, the logit, is the sum of:"),
        bars(word.logit, more.occlusion, "what carried the word"), foldButton(Boolean(more.occlusion))),
      make("div", { class: "why-against" }, contrast(word), further())));
  }

  function update() {
    const words = receiptsOf();
    find("receipt").hidden = words.length === 0;
    find("to-receipt").hidden = words.length === 0;
    if (words.length === 0) {
      clearTimeout(timer);
      more = { key: "" };
      return;
    }
    const key = JSON.stringify([scene.record.source.text, scene.hypothesis.ids, scene.record.model.name, wordIndex(words)]);
    if (key !== more.key) {
      more = { key };
      clearTimeout(timer);
      if (live.settings() && !live.settings().broken && scene.record.changes === undefined
          && scene.record.source.tokens.length <= MOST_TOKENS) {
        timer = setTimeout(() => ask({ methods: ["occlusion"], summed: true }, (answer) => { more.occlusion = JSON.parse(answer).words[0].occlusion; }), PAUSE);
      }
    } else if (shown === words) {
      return;
    }
    shown = words;
    draw();
  }

  function start() {
    host = find("why-content");
    find("why-chips").addEventListener("keydown", (event) => {
      const words = receiptsOf();
      const moved = moveInGrid(event, { row: 0, column: wordIndex(words) }, 1, words.length);
      if (!moved) return;
      change({ word: moved.column });
      find("why-chips").querySelector(`[data-word="${moved.column}"]`).focus();
    });
  }

  return { start, update, has: () => receiptsOf().length > 0 };
})();
