// The fields and buttons of the live page: the sentence, its translation, and the changes to the
// model.

const liveView = (() => {
  const LISTS = ["without", "force", "swap"];
  // sentences to try by the language of the source, each with what it shows
  const EXAMPLES = {
    en: [
      ["The group went home", "one English word, home, becomes two: nach Hause"],
      ["The dog bit the man", "word order says who bites whom"],
      ["The man bit the dog", "the same words; the German articles change"],
      ["She gave him the book yesterday", "the participle goes to the end of the sentence"],
      ["The old man sleeps in the garden", "in the becomes one word: im"],
      ["He does not drink coffee", "a negation moves: keinen Kaffee"],
      ["The cat that the dog chased was black", "a relative clause: its verb goes to the end"],
      ["I know that she is at home", "a clause with dass: its verb goes to the end"],
      ["Berlin is bigger than Munich", "names, and a comparison"],
      ["The bank is closed today", "the adverb moves before the participle"],
    ],
    de: [
      ["Die Gruppe ging nach Hause", "two German words, nach Hause, become one: home"],
      ["Der Hund biss den Mann", "the articles say who bites whom"],
      ["Den Mann biss der Hund", "the object comes first: in English it moves behind the verb"],
      ["Sie hat ihm gestern das Buch gegeben", "hat and gegeben, at both ends, become one verb: gave"],
      ["Der alte Mann schläft im Garten", "im becomes two words: in the"],
      ["Er trinkt keinen Kaffee", "keinen becomes a negation of the verb"],
      ["Die Katze, die der Hund jagte, war schwarz", "a relative clause: its verb leaves the end"],
      ["Ich weiß, dass sie zu Hause ist", "a clause with dass: its verb leaves the end"],
      ["Ich rufe dich morgen an", "rufe and an, at both ends, become one verb: call"],
      ["Mir ist kalt", "the person who is cold becomes the subject: I"],
    ],
  };
  const isLive = () => live.settings() !== null;

  // the browser fits the height without a layout per keystroke
  const FITS = CSS.supports("field-sizing", "content");

  /** Makes a field as high as its text. */
  function fit(field) {
    if (FITS) return;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }

  // the field in which a character is being composed: ¨ before the u, or characters of an input
  // method
  let composing = null;

  /** Writes a field's text unless the reader is composing a character in it. */
  function put(field, text) {
    if (field !== composing && field.value !== text) field.value = text;
    fit(field);
  }

  function typed(field, run) {
    field.addEventListener("compositionstart", () => { composing = field; });
    field.addEventListener("input", (event) => {
      fit(field);
      if (!event.isComposing) run(field.value.replace(/\n/g, " "));
    });
    field.addEventListener("compositionend", () => {
      composing = null;
      run(field.value.replace(/\n/g, " "));
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
      if (event.key === "Escape") field.blur();
    });
  }

  const list = (value, entries) => (entries.includes(value) ? entries.filter((one) => one !== value) : [...entries, value]);

  /** Switches off the head on show, by the name that --without takes; does nothing for a mean. */
  function switchOff() {
    if (isLive() && scene.name) live.want({ without: list(scene.name, live.asked.without) });
  }

  function pinned() {
    if (!isLive() || !state.cell || !scene.name || scene.words) return null;
    return `${scene.name}:${state.cell.q}=${state.cell.k}`;
  }

  /** Puts all attention of the chosen cell's query on its key. */
  function pin() {
    const wanted = pinned();
    if (!wanted) return;
    const [row] = wanted.split("=");
    const others = live.asked.force.filter((one) => !one.startsWith(`${row}=`));
    live.want({ force: live.asked.force.includes(wanted) ? others : [...others, wanted],
      without: live.asked.without.filter((one) => one !== scene.name) });
  }

  function chip(key, value) {
    const says = { without: "without", force: "pinned", swap: "swapped" }[key];
    return make("li", {}, make("button", { type: "button", class: "live-chip", title: "take it back",
      on: { click: () => live.want({ [key]: live.asked[key].filter((one) => one !== value) }) } },
      `${says} `, dataText(printable(value)), make("span", { "aria-hidden": "true", text: " ×" })));
  }

  // A link counts as a guess at a word from SURE on, or from FAIR on if no other word has more of
  // that source word. On the example sentences, this keeps right links and drops wrong ones.
  const SURE = 0.55;
  const FAIR = 0.4;

  /** Returns the links of a word alignment that are sure enough for the gloss. */
  function glossLinks({ links }) {
    return links.filter(({ source, weight }) => weight >= SURE
        || (weight >= FAIR && links.every((other) => other.source !== source || other.weight <= weight)));
  }

  /** Writes under each word of the translation the source words that it may come from, as the word
   *  alignment has them; a dash where the alignment is weak. */
  function updateGloss() {
    const alignment = scene.hypothesis && scene.hypothesis.alignment;
    const host = find("gloss");
    host.hidden = !alignment || alignment.links.length === 0;
    if (host.hidden) return;
    refill(host, JSON.stringify([alignment.source, alignment.target, alignment.links]), () => {
      const source = new Map(alignment.source.map(({ text, index }) => [index, printable(text)]));
      const links = glossLinks(alignment);
      const glossOf = ({ index }) => links.filter((link) => link.target === index)
          .map((link) => source.get(link.source)).join(" ") || "–";
      return [...alignment.target.map((word) => make("span", { class: "gloss-word" }, dataText(printable(word.text)),
          dataText(glossOf(word), { class: "quiet" }))),
        make("span", { class: "gloss-says quiet", title: "–: the head looks at no word clearly", text: `a guess from attention (${alignment.from}): it may be wrong` })];
    });
  }

  /** Updates the words that can be swapped, divided as the program does: only at spaces and
   *  tabs. */
  function updateWords() {
    if (find("live-swap").hidden) return;
    // For a text in parts, the words of the part on show; a comparison starts with the original
    // text.
    const text = scene.record.part ? sentences[0].text : live.asked.text;
    const all = text.split(/[ \t]/).filter((word) => word !== "");
    refill(find("live-word"), all.join(" "), () => all.map((word, i) => make("option", { value: i, text: printable(word) })));
  }

  function says() {
    const { status } = live;
    if (status.error || status.said) return status.error || status.said;
    if (status.notes.length > 0) return status.notes.join("; ");
    return status.took === null ? "" : `${Math.round(status.took)} ms`;
  }

  function updateStage() {
    const off = live.asked.without.includes(scene.name);
    find("live-off").hidden = scene.name === "";
    putText(find("live-off"), off ? "switch on again" : "switch off");
    putAttribute(find("live-off"), "aria-label", `${off ? "switch on again" : "switch off"} ${scene.name} in the model`);
    const wanted = pinned();
    find("live-pin").hidden = wanted === null;
    if (wanted === null) return;
    const { q, k } = state.cell;
    const back = live.asked.force.includes(wanted);
    replaceChildren(find("live-pin"), back ? "unpin " : "pin ", dataText(rowLabel(scene.rows[q])), " to ",
        dataText(scene.columns[k].label));
  }

  function updateModels() {
    const { models } = live.settings();
    refill(find("live-model"), JSON.stringify(models), () => models.map((name) => make("option", { value: name,
      text: printable(String(name).split("/").filter(Boolean).pop() || name), title: printable(name) })));
    find("live-model-box").hidden = models.length < 2;
  }

  // Languages and prefixes, if the model has them.

  const LANGUAGES = [["source_lang", "source"], ["target_lang", "target"]];

  /** Returns [code, name] of a language by its code or name; null if the model does not have it. */
  function languageOf(typed) {
    const small = typed.trim().toLowerCase();
    return (live.choices().languages || []).find((names) => names.some((name) => name.toLowerCase() === small)) || null;
  }

  /** Returns the requested language, or the model's own; null: not specified. */
  function languageThatCounts(key, own) {
    const asked = live.asked[key];
    return asked === null ? languageOf(live.choices()[own] || "") : languageOf(asked) || [asked, asked];
  }

  const idOf = (key) => `live-${key.replace("_", "-")}`;

  function updateLanguages() {
    const { languages = [], prefixes = [] } = live.choices();
    const option = (value, label) => make("option", { value: printable(value), label: label && printable(label) });
    refill(find("live-languages"), JSON.stringify(languages), () => languages.map(([code, name]) => option(name, code)));
    refill(find("live-prefixes"), JSON.stringify(prefixes), () => prefixes.map((prefix) => option(prefix)));
    for (const [key, own] of LANGUAGES) {
      const field = find(idOf(key));
      find(`${idOf(key)}-box`).hidden = !(own in live.choices());
      const counts = languageThatCounts(key, own);
      field.placeholder = counts ? printable(counts[1]) : "choose one";
      if (document.activeElement !== field) field.value = live.asked[key] === null ? "" : printable(counts[1]);
    }
    find("live-prefix-box").hidden = prefixes.length === 0;
    if (document.activeElement !== find("live-prefix")) find("live-prefix").value = live.asked.prefix || "";
    const [source, target] = languages.length > 0 ? LANGUAGES.map((both) => languageThatCounts(...both)) : live.pair() || [null, null];
    updateTurn(live.pair());
    const names = (language, noun) => `${language ? `${printable(language[1])} ` : ""}${noun}`;
    const article = (text) => `${/^[AEIOU]/.test(text) ? "an" : "a"} ${text}`;
    const tag = (language) => (language ? language[0].replace(/_/g, "-") : "");
    putText(find("live-text-says"), article(names(source, "sentence")));
    const examples = updateExamples(source);
    putText(find("live-target-says"), `${names(target, "translation")}: edit it to have your own scored`);
    putAttribute(find("live-text"), "placeholder", examples ? examples[0][0] : source ? `a sentence in ${printable(source[1])}` : "a sentence");
    putAttribute(find("live-text"), "lang", tag(source));
    putAttribute(find("live-target"), "lang", tag(target));
  }

  let shownExamples;

  /** Offers the example sentences of the source's language, if there are any, and returns them. */
  function updateExamples(source) {
    const code = source ? source[0].split(/[-_]/)[0].toLowerCase() : "";
    const examples = EXAMPLES[{ eng: "en", deu: "de" }[code] || code];
    find("examples").hidden = !examples;
    if (examples && examples !== shownExamples) {
      replaceChildren(find("examples"), examples.map(([text, says]) => make("li", {}, make("button", { type: "button", class: "live-chip",
        title: says, "aria-describedby": "example-says", text, on: { focus: showExample, blur: showExample, click: () => {
          find("live-text").value = text;
          live.want({ text, target: null, swap: [] });
        } } }))));
    }
    shownExamples = examples;
    showExample();
    return examples;
  }

  /** Says below the examples what the one with the focus shows, or the one that is the sentence. */
  function showExample() {
    const focused = find("examples").contains(document.activeElement) ? document.activeElement.textContent : null;
    const chosen = (shownExamples || []).find(([text]) => text === (focused === null ? live.asked.text : focused));
    for (const button of find("examples").querySelectorAll("button")) putAttribute(button, "aria-pressed", button.textContent === live.asked.text);
    find("example-says").hidden = !chosen;
    if (chosen) refill(find("example-says"), chosen[0], () => [dataText(chosen[0], { class: "strong" }), ` shows: ${chosen[1]}`]);
  }

  /** Labels the button that translates the other way. A page without a server asks for a model if
   *  it has none that does. */
  function updateTurn(pair) {
    const button = find("live-turn");
    button.hidden = !pair || !(live.wayBack() || live.settings().alone);
    if (button.hidden) return;
    const [source, target] = pair.map((language) => printable(language[1]));
    putText(button, `⇄ ${target} to ${source}`);
    putAttribute(button, "title", live.wayBack() ? `the ${target} becomes the sentence to translate`
        : `choose the files of a model that translates ${target} to ${source}; they stay in this page`);
  }

  // the text that a model opened for the other direction translates
  let turned;

  function turn() {
    if (live.turn()) return;
    turned = live.translation();
    find("live-files").click();
  }

  /** Sets a language once it is chosen or completely typed. A language that the model does not
   *  have is requested as typed, because the answer names the nearest ones. */
  function listenToLanguage(key) {
    const field = find(idOf(key));
    const take = (whole) => {
      const found = languageOf(field.value);
      const wanted = field.value.trim() === "" ? null : found ? found[0] : field.value.trim();
      if ((whole || found) && wanted !== live.asked[key]) live.want({ [key]: wanted });
    };
    field.addEventListener("input", () => take(false));
    field.addEventListener("change", () => take(true));
    field.addEventListener("blur", updateLanguages);  // a language typed as a code gets its name
  }

  function update() {
    if (!isLive()) return;
    const { asked, status } = live;
    updateModels();
    updateLanguages();
    if (live.settings().broken) {
      find("alone").hidden = true;
      for (const field of find("live").querySelectorAll("textarea, input, button, select")) field.disabled = true;
    }
    const isBlank = asked.text.trim() === "" && scene.record.source.text.trim() === "";
    document.body.classList.toggle("is-blank", isBlank);
    find("live-blank").hidden = !isBlank;
    updateGloss();
    put(find("live-text"), document.activeElement === find("live-text") ? find("live-text").value : asked.text);
    const given = asked.target !== null;
    // during training: the model's current output, if the maps are those of another translation
    const { own } = scene.record;
    const german = own !== undefined ? printable(own) : scene.hypothesis ? printable(scene.hypothesis.text) : "";
    put(find("live-target"), given ? asked.target : german);
    find("live").classList.toggle("is-given", given);
    const { part } = scene.record;
    find("live-part").hidden = !part;
    if (part) putText(find("live-part"), `part ${part.number} of ${part.of}`);
    find("live-search").hidden = !given;
    find("live-beams").placeholder = (scene.record.decoding && scene.record.decoding.beams) || "";
    find("live-beams").disabled = given;
    if (document.activeElement !== find("live-beams")) find("live-beams").value = asked.beams === null ? "" : asked.beams;
    find("live-model").value = asked.model === null ? live.settings().models[0] : asked.model;
    find("live-second").hidden = asked.compare === null;
    if (asked.compare !== null && document.activeElement !== find("live-compare")) put(find("live-compare"), asked.compare);
    find("live-compare-open").setAttribute("aria-pressed", String(asked.compare !== null));
    refill(find("live-changes"), JSON.stringify(LISTS.map((key) => asked[key])),
        () => LISTS.flatMap((key) => asked[key].map((value) => chip(key, value))));
    find("live-changes").hidden = LISTS.every((key) => asked[key].length === 0);
    refill(find("live-says"), says(), () => dataText(printable(says())));
    find("live").classList.toggle("is-busy", status.busy);
    find("live").classList.toggle("is-wrong", status.error !== "");
    updateWords();
    updateStage();
  }

  function toggle(button, box, field) {
    const open = find(box).hidden;
    find(box).hidden = !open;
    find(button).setAttribute("aria-pressed", String(open));
    if (open) find(field).focus();
    return open;
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(live.link());
      find("live-link").textContent = "Copied";
      setTimeout(() => { find("live-link").textContent = "Copy link"; }, 1500);
      announce("the link is copied");
    } catch {
      const problem = "the browser copies nothing here; the address bar has the link";
      announce(problem);
      live.say(problem);
    }
  }

  /** Handles opening models; only if the program is inside the page. */
  function listenAlone() {
    find("live-open").addEventListener("click", () => {
      turned = undefined;
      find("live-files").click();
    });
    find("live-files").addEventListener("change", (event) => {
      const files = Array.from(event.target.files);
      if (files.length > 0) live.openModel(alone.chosen(files), turned);
      event.target.value = "";
    });
    const onFiles = (name, run) => addEventListener(name, (event) => {
      // the browser handles dropped text as usual
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      run(event.dataTransfer);
    });
    onFiles("dragover", (transfer) => { transfer.dropEffect = "copy"; });
    onFiles("drop", (transfer) => live.openModel(alone.dropped(transfer)));
  }

  function listen() {
    typed(find("live-text"), (text) => live.want({ text }));
    const moved = () => live.moveCaret(find("live-text").selectionStart);
    find("live-text").addEventListener("click", moved);
    find("live-text").addEventListener("keyup", (event) => {
      if (/^(Arrow|Home|End|Page)/.test(event.key)) moved();
    });
    typed(find("live-target"), (target) => live.want({ target }));
    typed(find("live-compare"), (compare) => live.want({ compare }));
    const on = (id, run, event = "click") => find(id).addEventListener(event, run);
    on("live-search", () => live.want({ target: null }));
    on("live-clear", () => {
      find("live-text").value = "";
      live.want({ text: "", target: null });
      find("live-text").focus();
    });
    on("live-model", (event) => live.want({ model: event.target.value, source_lang: null, target_lang: null, prefix: null,
      without: [], force: [] }), "change");
    LANGUAGES.forEach(([key]) => listenToLanguage(key));
    on("live-prefix", (event) => live.want({ prefix: event.target.value || null }), "change");
    on("live-beams", (event) => {
      const beams = Number(event.target.value);
      const whole = Number.isInteger(beams) && beams >= 1 && beams <= live.settings().most_beams;
      if (event.target.value === "" || whole) live.want({ beams: whole ? beams : null });
      else live.say(`beams: a whole number from 1 to ${live.settings().most_beams}`);
    }, "input");
    on("live-compare-open", () => {
      const open = toggle("live-compare-open", "live-second", "live-compare");
      if (open) live.asked.compare = "";
      else live.want({ compare: null });
    });
    on("live-swap-open", () => {
      toggle("live-swap-open", "live-swap", "live-word");
      updateWords();
    });
    on("live-swap", (event) => {
      event.preventDefault();
      const word = find("live-swap-word").value.trim();
      if (word === "") return;
      const at = find("live-word").value;
      live.want({ swap: [...live.asked.swap.filter((one) => !one.startsWith(`${at}=`)), `${at}=${word}`] });
      find("live-swap-word").value = "";
    }, "submit");
    on("live-turn", turn);
    on("live-link", copy);
    on("live-save", live.save);
    on("live-record", live.saveRecord);
    on("live-off", switchOff);
    on("live-pin", pin);
  }

  function start() {
    if (!isLive()) return;
    document.body.classList.add("is-live");
    find("live-text").after(find("parts"));
    find("live").hidden = false;
    find("live-stage").hidden = false;
    find("live-beams").max = live.settings().most_beams;
    listen();
    if (live.settings().alone) listenAlone();
    find("live-record").hidden = find("live-open").hidden = !live.settings().alone;
    live.onChange(update);
    addEventListener("resize", () => ["live-text", "live-target", "live-compare"].forEach((id) => fit(find(id))));
  }

  const KEYS = [
    { keys: ["i"], says: "into the sentence, to type (Esc: out again)", run: () => {
      if (!isLive()) return;
      find("live-text").focus();
      find("live-text").select();
    } },
    { keys: ["x"], says: "switch the head on show off in the model, and compare", run: switchOff },
    { keys: ["f"], says: "pin the query of the chosen cell to its key, and compare", run: pin },
  ];

  return { start, update, keys: () => (isLive() ? KEYS : []) };
})();
