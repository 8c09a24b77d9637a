// Requests to the server behind the page (attn-demo serve) or to the program inside it
// (live/standalone.js). Only one request runs at a time: a new one replaces the one that still
// runs. Without either, nothing here happens.

const live = (() => {
  // ms after the last keystroke before vectors and the search are requested, which take longer
  const PAUSE = 350;
  const LISTS = ["without", "force", "swap"];
  const FIELDS = ["model", "beams", "target", "source_lang", "target_lang", "prefix", "compare", "part"];
  const COUNTS = ["beams", "part"];
  const CUTTERS = ["model", "source_lang", "target_lang", "prefix"];
  const nothing = () => Object.fromEntries([["text", null], ...FIELDS.map((key) => [key, null]), ...LISTS.map((key) => [key, []])]);
  const asked = { ...nothing(), text: "" };
  const page = Array.from(crypto.getRandomValues(new Uint32Array(2)), (word) => word.toString(16)).join("-");
  const listeners = [];
  let settings = null;  // the server's settings: models, beams, limits; null: there is no server
  let running = null;
  // number of the last request: with several connections an older answer may arrive later
  let number = 0;
  let rest = 0;
  let openings = 0;  // number of models that the reader has opened
  let hurry = false;  // true while an answer is being shown: what is in sight comes first
  // all parts of a text in parts, and the key of the request they belong to
  let whole = { key: "", parts: [] };
  let branch = null;  // branch named in an address, kept until the second answer brings the search
  // the choices of each model: {languages: [[code, name], …], source, target, prefixes}, or {pair:
  // [[code, name], [code, name]]} for a model whose name ends in its two languages
  const choices = new Map();

  /** The state of the last request, and the message `said` since: {busy, error, said, notes,
   *  took}. */
  const status = { busy: false, error: "", said: "", notes: [], took: null };

  function tell() {
    for (const run of listeners) run();
  }

  /** Shows a message beside the fields until the next request. */
  function say(text) {
    status.said = text;
    tell();
  }

  /** Returns the request as JSON, except the keys `without`. */
  function bodyOf(detail, without = []) {
    const body = { text: asked.text, ...detail };
    for (const key of FIELDS) if (asked[key] !== null) body[key] = asked[key];
    if (asked.compare !== null && asked.compare.trim() === "") delete body.compare;
    for (const key of LISTS) if (asked[key].length > 0) body[key] = asked[key];
    for (const key of without) delete body[key];
    return JSON.stringify(body);
  }

  /** Rejects texts that exceed the server's size limit, so that it would not read them to the
   *  end. */
  function checkSizes() {
    for (const key of ["text", "target", "prefix", "compare"]) {
      const bytes = new TextEncoder().encode(asked[key] || "").length;
      if (bytes > settings.most_text) {
        throw new Error(`this text has ${thousands(bytes)} bytes, and at most ${thousands(settings.most_text)} are taken`);
      }
    }
  }

  /** Returns the server's answer. If there is none, throws an error in our own words, since each
   *  browser has a different message. */
  async function ask(path, request) {
    if (settings.alone) return (trainer.programOf(modelAsked()) || alone).ask(path, request);
    try {
      return await fetch(path, request);
    } catch (problem) {
      throw request.signal && request.signal.aborted ? problem
          : new Error("the server does not answer: is attn-demo serve still running?");
    }
  }

  /** Returns the answer's text; throws an Error with the server's own message for everything
   *  else. With a `signal` the request is for a picture, which the next one replaces; a file is
   *  not replaced. */
  async function post(path, detail, signal, without) {
    checkSizes();
    return send(path, bodyOf(detail, without), signal, signal ? { "Attn-Page": page, "Attn-Number": ++number } : {});
  }

  /** Returns the answer to a question about the translation on show (/api/why). */
  function askWhy(detail, signal) {
    const body = { text: scene.record.source.text, target: scene.hypothesis.text, ...detail };
    for (const key of ["model", "source_lang", "target_lang"]) if (asked[key] !== null) body[key] = asked[key];
    if (asked.prefix !== null) body.prefix = "";  // it is part of the text
    return send("/api/why", JSON.stringify(body), signal, {});
  }

  async function send(path, body, signal, headers) {
    const answer = await ask(path, { method: "POST", body, signal, headers: { "Content-Type": "application/json", ...headers } });
    const text = await answer.text();
    if (answer.ok) return text;
    const problem = new Error(`the server refuses (${answer.status})`);
    try {
      problem.message = JSON.parse(text).error;
    } catch {
      // An answer that is not JSON is reported by its number alone.
    }
    problem.wait = answer.status === 429 ? 1000 * Number(answer.headers.get("Retry-After") || 1) : 0;
    throw problem;
  }

  const modelAsked = () => asked.model || settings.models[0];

  /** Identifies what the parts and their translations depend on. */
  const wholeKey = () => JSON.stringify([asked.text, asked.model, asked.beams, asked.source_lang, asked.target_lang, asked.prefix]);

  /** Returns all parts of a text in parts, one of which is on show: [{gap, source, text, chosen}]. */
  function parts() {
    const [{ moments: [first] }] = sentences;
    if (!first.part || whole.parts.length !== first.part.of) return [];
    // not the sentence that it is compared with
    const shown = scene.record.part ? scene.record : first;
    return whole.parts.map(({ gap, source, text }, i) => {
      const chosen = i + 1 === first.part.number;
      return { gap, source, text: chosen && shown.hypotheses.length > 0 ? shown.hypotheses[0].text : text, chosen };
    });
  }

  /** Shows the part that contains the caret. */
  function moveCaret(at) {
    if (whole.key !== wholeKey() || whole.parts.length < 2) return;
    let end = Math.max(0, asked.text.indexOf(whole.parts[0].source) - whole.parts[0].gap.length);
    const found = whole.parts.findIndex(({ gap, source }) => at <= (end += gap.length + source.length));
    const number = found < 0 ? whole.parts.length : found + 1;
    if (number !== asked.part) want({ part: number });
  }

  /** Returns the caret's position in bytes: the program's text is UTF-8. */
  function caret() {
    const field = find("live-text");
    if (asked.part !== null || document.activeElement !== field) return {};
    return { caret: new TextEncoder().encode(asked.text.slice(0, field.selectionStart)).length };
  }

  // false until the page shows the view that its address names
  let opened = false;

  /** True if the records are from another model than the page shows, and the reader has not chosen
   *  a head: then that model's own best head is shown. */
  function beginsAnew(records) {
    if (!opened || records[0].model.name === sentences[0].moments[0].model.name) return false;
    const first = firstView();
    return ["kind", "layer", "head"].every((key) => state[key] === first[key]);
  }

  /** Shows the translation in an answer, or a branch of its search. */
  function show(text, node = null) {
    const data = JSON.parse(text);
    const anew = beginsAnew(data.records);
    loadPage(data);
    opened = true;
    const { kind, layer, head } = anew ? firstView() : state;
    const [{ moments: [{ part }] }] = sentences;
    asked.part = part ? part.number : null;
    if (data.live && data.live.parts) whole = { key: wholeKey(), parts: data.live.parts };
    status.notes = (data.live && data.live.notes) || [];
    if (data.live && data.live.choices) choices.set(modelAsked(), data.live.choices);
    hurry = true;
    try {
      change({ kind, layer, head, sentence: sentences.length - 1, moment: Number.MAX_SAFE_INTEGER,
        hypothesis: 0, branch: node, lock: state.lock, cell: state.cell });
    } finally {
      hurry = false;
    }
  }

  /** Cancels everything that was requested but is not shown yet. */
  function rests() {
    clearTimeout(rest);
    if (running) running.abort();
    running = null;
    status.busy = false;
  }

  /** Requests the current choices: immediately without the slow parts, and with them after a
   *  pause. */
  async function follow() {
    trainer.pause();
    rests();
    const control = new AbortController();
    running = control;
    const begun = performance.now();
    try {
      const asking = post("/api/page", { report: true, choices: !choices.has(modelAsked()), whole: whole.key !== wholeKey(),
        measures: state.measure !== "weight", ...caret() },
          control.signal);
      status.busy = true;
      tell();
      const answer = await asking;
      show(answer);
      status.error = "";
      // After the frame's own work, so that the measured time includes a visible picture.
      requestAnimationFrame(() => setTimeout(() => {
        status.took = performance.now() - begun;
        tell();
      }));
      rest = setTimeout(complete, PAUSE, control);
    } catch (problem) {
      if (control.signal.aborted) return;
      status.error = problem.message;
      status.took = null;
      if (problem.wait) rest = setTimeout(follow, problem.wait);
    }
    if (running === control) status.busy = false;
    tell();
  }

  async function complete(control) {
    try {
      const text = await post("/api/page", { report: true, vectors: true, tree: true, measures: true }, control.signal);
      if (running !== control) return;
      show(text, branch);
      branch = null;
    } catch {
      // The picture without them stays; the next keystroke requests them again.
    }
  }

  const experiments = () => LISTS.some((key) => asked[key].length > 0);

  /** Sets fields of the request and sends it. A second sentence cannot be combined with a given
   *  translation or an experiment. A new text clears the fields that refer to its positions. For
   *  a text in parts, these fields refer to the part on show. */
  function want(fields) {
    const another = "part" in fields || ("text" in fields && fields.text !== asked.text);
    // A change to the text or its settings may divide it elsewhere, or not at all.
    const cut = asked.part !== null && CUTTERS.some((key) => key in fields);
    if (another || cut) Object.assign(asked, { target: null, force: [], swap: [], part: null });
    if (fields.target !== undefined && fields.target !== asked.target) Object.assign(asked, { force: [] });
    if (fields.target !== undefined && fields.target !== null) asked.compare = null;
    if (fields.compare !== undefined && fields.compare !== null) Object.assign(asked, { target: null, without: [], force: [], swap: [] });
    if (LISTS.some((key) => fields[key] && fields[key].length > 0)) asked.compare = null;
    Object.assign(asked, fields);
    status.said = "";
    branch = null;
    return follow();
  }

  /** Returns the languages that the page translates between, as [[code, name], [code, name]], or
   *  null where one is not known. */
  function pair() {
    const { languages = [], pair: named, ...own } = choices.get(modelAsked()) || {};
    if (named) return named;
    if (!("source" in own)) return null;
    const both = ["source", "target"].map((side) => asked[`${side}_lang`] || own[side]);
    const found = both.map((code) => languages.find(([one]) => one === code));
    return found.every(Boolean) ? found : null;
  }

  /** Returns the fields of a request that translates the other way; null if no model here does. */
  function wayBack() {
    const both = pair();
    if (!both || both[0][0] === both[1][0]) return null;
    const [[source], [target]] = both;
    if (!choices.get(modelAsked()).pair) return { source_lang: target, target_lang: source };
    const other = settings.models.find((name) => new RegExp(`(^|[-/])${target}-${source}/*$`).test(name));
    return other === undefined ? null : { model: other, source_lang: null, target_lang: null, prefix: null };
  }

  /** Returns the translation on show, of all parts of the text. */
  function translation() {
    const all = parts();
    if (all.length > 0) return all.map(({ gap, text }) => gap + text).join("").trim();
    return asked.target !== null ? asked.target : scene.hypothesis ? scene.hypothesis.text : "";
  }

  /** Translates the translation the other way. Returns false if no model here does. */
  function turn() {
    const back = wayBack();
    if (back) want({ ...back, text: translation(), target: null, compare: null, without: [], force: [], swap: [] });
    return back !== null;
  }

  async function saveAs(download, type, path, detail, without) {
    try {
      const text = await post(path, { report: true, vectors: true, ...detail }, null, without);
      const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      announce(`saved as ${download}`);
    } catch (problem) {
      failed(problem);
    }
  }

  /** Saves the page that works without a server, of what is on show, or its record. */
  const save = () => saveAs("attn-demo.html", "text/html", "/api/file", { tree: true },
      experiments() || asked.target !== null || asked.compare !== null ? [] : ["part"]);
  const saveRecord = () => {
    const searched = asked.target === null && !experiments() && (scene.record.decoding || {}).beams > 1;
    saveAs("attn-demo.json", "application/json", "/api/attend", searched ? { tree: true } : {}, ["compare"]);
  };

  function failed(problem) {
    status.error = problem.message;
    tell();
  }

  // The address.

  function addressParts() {
    if (!settings) return [];
    const parts = [];
    for (const key of ["text", ...FIELDS]) {
      if (asked[key] !== null) parts.push(`${key}=${encodeURIComponent(asked[key])}`);
    }
    for (const key of LISTS) for (const value of asked[key]) parts.push(`${key}=${encodeURIComponent(value)}`);
    return parts;
  }

  /** Returns the request in an address; null if it has none. A model that is not here is
   *  ignored. */
  function wantedBy(address) {
    const wanted = nothing();
    for (const part of address.replace(/^#/, "").split("&")) {
      const [key, ...rest] = part.split("=");
      let value = "";
      try {
        value = decodeURIComponent(rest.join("="));
      } catch {
        continue;
      }
      if (LISTS.includes(key)) wanted[key].push(value);
      else if (COUNTS.includes(key) && /^\d{1,4}$/.test(value)) wanted[key] = Number(value);
      else if (!COUNTS.includes(key) && key in wanted) wanted[key] = value;
    }
    status.said = "";
    if (wanted.model !== null && !settings.models.includes(wanted.model)) {
      status.said = `the link's model ${wanted.model} is not served here; this is ${settings.models[0]}`;
      wanted.model = null;
    }
    return wanted.text === null ? null : wanted;
  }

  /** True if an address can have this name for the request. */
  const takes = (key) => settings !== null && (key === "text" || FIELDS.includes(key) || LISTS.includes(key));

  function link() {
    return (settings.alone ? location.href.split("#")[0] : location.origin + "/") + addressOf();
  }

  /** Sends the request of an address, and shows the view that it describes. */
  function take(wanted, address) {
    const { sentence, moment, ...view } = fieldsOf(address);
    Object.assign(asked, wanted);
    branch = "branch" in view ? view.branch : null;
    follow().then(() => change(view));
  }

  /** Follows the address after it was changed by hand. */
  function go(address = location.hash) {
    const wanted = settings && wantedBy(address);
    if (!wanted || JSON.stringify({ ...asked, ...wanted }) === JSON.stringify(asked)) return;
    take(wanted, address);
  }

  /** Starts the program inside the page. Questions wait until it runs; if it cannot run, the
   *  page stays as it is. */
  async function startAlone(parts) {
    try {
      takeSettings(await alone.start(parts));
      bench.start();
    } catch (problem) {
      settings.broken = true;
      failed(problem);
    }
  }

  function takeSettings(found) {
    settings = { ...found, models: [...found.models, ...trainer.models()], alone: settings.alone };
    Object.assign(asked, { model: null, source_lang: null, target_lang: null, prefix: null });
    choices.clear();
    takeChoices();
    tell();
  }

  /** Takes over the first model's choices, which come with the page. */
  function takeChoices() {
    if (settings.choices) choices.set(settings.models[0], settings.choices);
  }

  /** Adds the model trained in this page to the page's models, and selects it and its sentence
   *  without sending a request yet. */
  function turnTo(model, text) {
    rests();
    if (!settings.models.includes(model)) settings.models.push(model);
    Object.assign(asked, nothing(), { text, model });
    Object.assign(status, { error: "", said: "", notes: [], took: null });
    tell();
  }

  /** Opens a model of the reader's own; `given` resolves to {name, files}. If several were
   *  given, the last one is used. It translates `text`, or what the reader has typed by then. */
  async function openModel(given, text) {
    const mine = ++openings;
    status.said = "opening the model";
    status.error = "";
    tell();
    try {
      const model = await alone.read(await given);
      if (mine !== openings) return;
      takeSettings(await alone.open(model));
      await want({ text: text === undefined ? asked.text : text, model: null, target: null, without: [], force: [] });
    } catch (problem) {
      if (mine !== openings) return;
      status.said = "";
      failed(problem);
    }
  }

  function start(given, address) {
    if (!given) return;
    settings = given;
    takeChoices();
    if (given.alone) startAlone(given.alone);
    asked.text = sentences[0].text;
    // The token of the address is now in a cookie; a copied link must not contain it.
    if (location.search) history.replaceState(null, "", location.pathname + (/[?&](bench(=\d+)?)(?=&|$)/.exec(location.search) || ["", ""])[1].replace(/^./, "?$&") + location.hash);
    const wanted = wantedBy(address);
    opened = !wanted;
    if (wanted) take(wanted, address);
  }

  return { start, want, moveCaret, parts, say, turnTo, save, saveRecord, openModel, go, link, takes, addressParts, askWhy, pair, wayBack, turn, translation, asked, status, onChange: (run) => listeners.push(run),
    settings: () => settings, choices: () => choices.get(modelAsked()) || {}, hurries: () => hurry };
})();
