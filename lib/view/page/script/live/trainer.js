// A small model that is trained in this page while the reader watches. A separate worker does a
// number of updates at a time. After each, the model's maps, translation and losses become one more
// moment of the film (training.js). Only if the program is inside the page (live/standalone.js).

const trainer = (() => {
  const LEAST = 90;  // minimum ms that a picture is shown
  // for the growing pace: number of pictures while the updates grow by a factor of e
  const GROWTH = 25;
  const EXAMPLES = 3;  // number of example sentences, from those that are not in the training data

  let given = null;     // {name, pairs, files}
  let program = null;  // the worker that trains; null: not started
  let going = false;
  let turn = 0;  // number of the current run: answers to an older one are ignored
  let shown = false;  // true if the panel is shown
  let hurry = false;
  let film = [];  // one record per moment, with `own`: the model's translation at that moment
  let onShow = null;  // the film as passed to the page
  let curve = null;  // in the form that page_curve() in page_html.h describes
  let news = null;  // {update, updates, finished, …} of the last answer
  let problem = "";
  let before = "";  // the sentence on the page when training started

  /** Returns the number of updates until the next picture. */
  function pace() {
    const chosen = find("train-pace").value;
    return chosen === "grow" ? Math.max(1, Math.round(news.update / GROWTH)) : Number(chosen);
  }

  function lines(name) {
    const file = given.files.find((one) => one.name === name);
    return file ? new TextDecoder().decode(file.bytes).split("\n").filter((line) => line !== "") : [];
  }

  /** Continues training by `updates` updates; the answer becomes a moment. */
  async function advance(updates) {
    const asked = program;
    const answer = await asked.ask("/api/train", { body: JSON.stringify({ updates }) });
    const text = await answer.text();
    if (asked !== program) return;  // another training was started meanwhile
    if (!answer.ok) throw new Error(JSON.parse(text).error);
    const page = JSON.parse(text);
    news = page.live.training;
    curve.train.push(...news.losses);
    curve.validations.push(...news.looks);
    const [record] = page.records;
    film = [...film.filter((one) => one.model.update !== record.model.update), Object.assign(record, { own: news.text, curve })];
  }

  /** True if the latest moment shown on the page is the one on show. */
  const follows = () => sentences[state.sentence].moments === onShow && state.moment === onShow.length - 1;

  function showFilm() {
    loadMoments(film);
    onShow = film;
    hurry = true;
    try {
      change({ sentence: 0, moment: film.length - 1, hypothesis: 0, branch: null, lock: state.lock, cell: state.cell });
    } finally {
      hurry = false;
    }
  }

  const onScreen = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
  const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, Math.max(0, ms)); });

  async function begin() {
    if (program) program.end();
    program = makeModuleWorker(false);
    film = [];
    curve = { first: 0, end: 0, train: [], validations: [] };
    news = null;
    await program.open({ ...alone.parts(), training: given });
    await advance(0);
  }

  /** Trains until the reader pauses, training is finished, or another run has started. */
  async function run() {
    const mine = ++turn;
    going = true;
    problem = "";
    update();
    try {
      if (!news) await begin();
      if (mine !== turn) return;
      const [{ source }] = film;
      live.turnTo(given.name, source.text);
      showFilm();
      while (going && !news.finished) {
        const begun = performance.now();
        await advance(pace());
        if (mine !== turn) return;
        if (!going && !follows()) break;  // the reader is looking at something else
        showFilm();
        await onScreen();
        await wait(begun + LEAST - performance.now());
        if (mine !== turn) return;
      }
    } catch (found) {
      if (mine !== turn) return;
      problem = `the training stopped: ${found.message}`;
      program.end();
      program = news = null;
    }
    going = false;
    update();
  }

  /** Pauses training; returns true if it was running. */
  function pause() {
    const went = going;
    going = false;
    if (went) update();
    return went;
  }

  function anew() {
    pause();
    news = null;
    run();
  }

  /** Opens the panel and continues training, or shows the film if training is finished. */
  function open() {
    given = alone.training();
    if (!shown) before = live.asked.text;
    shown = true;
    change({ kind: "cross", layer: Number.MAX_SAFE_INTEGER, mean: "one" });
    find("train").scrollIntoView({ block: "start" });
    if (!going && !(news && news.finished)) run();
    else if (news && news.finished) back();
  }

  function close() {
    pause();
    shown = false;
    live.want({ model: null, text: before, target: null, without: [], force: [] });
  }

  /** Returns from the reader's own sentence to the film. */
  function back() {
    live.turnTo(given.name, film[0].source.text);
    showFilm();
  }

  function says() {
    if (problem) return [dataText(printable(problem))];
    if (!news) return ["making random weights"];
    const loss = curve.train.length > 0 ? curve.train[curve.train.length - 1][1] : null;
    const bleu = curve.validations.length > 0 ? curve.validations[curve.validations.length - 1][2] : null;
    const figure = (label, value, digits) => (typeof value === "number" ? ` · ${label} ${fixed(value, digits)}` : "");
    return [make("span", { class: "strong", text: `update ${thousands(news.update)}` }),
      ` of ${thousands(news.updates)}${figure("loss", loss, 2)}${figure("BLEU on unseen pairs", bleu, 1)}`];
  }

  /** Returns the model's current translations of the watched sentence. */
  function texts() {
    if (film.length === 0) return [];
    const last = film[film.length - 1];
    return [dataText(printable(last.source.text)), make("span", { class: "arrow", text: " → " }),
      dataText(printable(last.own) || "(nothing)", { class: "strong" })];
  }

  function examples() {
    return ["Now it can be asked: type above, or try ", lines("dev.source").slice(0, EXAMPLES).map((line, i) => [i > 0 ? ", " : "",
      make("button", { type: "button", class: "text-button", on: { click: () => live.want({ text: line }) } }, dataText(printable(line)))])];
  }

  function update() {
    if (!live.settings() || !live.settings().alone) return;
    find("train-open").hidden = alone.training() === null;
    putAttribute(find("train-open"), "aria-pressed", shown);
    find("train").hidden = !shown;
    document.body.classList.toggle("is-training", going);
    if (!shown) return;
    const finished = news !== null && news.finished;
    const model = film.length > 0 ? film[0].model : null;
    putText(find("train-about"), `${model ? `${model.encoder_layers} + ${model.decoder_layers} layers of ${model.encoder_heads} heads and ${model.d_model} columns` : "A small Transformer"}, `
        + `from random weights, on ${thousands(given.pairs)} pairs of sentences. Watch what its heads learn to look at.`);
    replaceChildren(find("train-texts"), texts());
    replaceChildren(find("train-says"), says());
    find("train-progress").max = news ? news.updates : 1;
    find("train-progress").value = news ? news.update : 0;
    const away = film.length > 0 && sentences[state.sentence].moments !== film;
    putText(find("train-go"), going ? "Pause" : finished ? "Show it" : "Go on");
    find("train-go").hidden = problem !== "" || (finished && !away);
    find("train-anew").hidden = film.length === 0 && problem === "";
    putText(find("train-back"), `back to ${printable(String(live.settings().models[0]).split("/").filter(Boolean).pop())}`);
    find("train-try").hidden = !finished;
    if (finished) refill(find("train-try"), "examples", examples);
  }

  function start() {
    if (!live.settings() || !live.settings().alone) return;
    find("train-open").addEventListener("click", () => (shown ? close() : open()));
    find("train-go").addEventListener("click", () => {
      if (pause()) return;
      if (news && news.finished) back();
      else run();
    });
    find("train-anew").addEventListener("click", anew);
    find("train-back").addEventListener("click", close);
    live.onChange(update);
  }

  /** Returns the worker that answers for a model; null: the page's own. */
  const programOf = (model) => (program && given && model === given.name ? program : null);

  return { start, update, pause, programOf, hurries: () => hurry, models: () => (program && given ? [given.name] : []) };
})();
