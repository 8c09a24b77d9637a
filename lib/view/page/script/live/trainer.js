// A small model that is trained in this page, before one's eyes: in a worker of its own so many updates at a time, and after
// each time its maps, its translation and its losses become one more moment of the film (training.js). Only where the program
// is inside the page (live/alone.js).

const trainer = (() => {
  const LEAST = 90;     // ms that a picture stands
  const GROWTH = 25;    // of the pace that grows: so many pictures while the updates become e times as many
  const EXAMPLES = 3;   // sentences to try, of those that it has not learned from

  let given = null;     // {name, pairs, files}
  let program = null;   // the worker that trains; null: none has begun
  let going = false;
  let turn = 0;         // of runs: what an older one still waits for counts no more
  let shown = false;    // the panel
  let hurry = false;
  let film = [];        // a record a moment, with `own`: its translation at the time
  let onShow = null;    // the film as the page has it
  let curve = null;     // as page_curve.h has it
  let news = null;      // {update, updates, finished, …} of the last answer
  let problem = "";
  let before = "";      // the sentence that was there when it began

  /** Updates until the next picture. */
  function pace() {
    const chosen = find("train-pace").value;
    return chosen === "grow" ? Math.max(1, Math.round(news.update / GROWTH)) : Number(chosen);
  }

  function lines(name) {
    const file = given.files.find((one) => one.name === name);
    return file ? new TextDecoder().decode(file.bytes).split("\n").filter((line) => line !== "") : [];
  }

  /** Goes on by so many updates; the answer becomes a moment. */
  async function advance(updates) {
    const asked = program;
    const answer = await asked.ask("/api/train", { body: JSON.stringify({ updates }) });
    const text = await answer.text();
    if (asked !== program) return;  // another one was begun meanwhile
    if (!answer.ok) throw new Error(JSON.parse(text).error);
    const page = JSON.parse(text);
    news = page.live.training;
    curve.train.push(...news.losses);
    curve.validations.push(...news.looks);
    const [record] = page.records;
    film = [...film.filter((one) => one.model.update !== record.model.update), Object.assign(record, { own: news.text, curve })];
  }

  /** Whether the last moment that was there to be seen is on show. */
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

  /** Trains until it is paused or at its end, or another run has begun. */
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
        if (!going && !follows()) break;  // the reader looks at something else
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

  /** Whether it went on. */
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

  /** The panel, and training goes on; or away from it, to the model of before. */
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

  /** From a sentence of the reader's back to the film. */
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

  /** What it writes for the sentence that is watched, as it is now. */
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

  /** The worker that answers for a model; null: the page's own. */
  const programOf = (model) => (program && given && model === given.name ? program : null);

  return { start, update, pause, programOf, hurries: () => hurry, models: () => (program && given ? [given.name] : []) };
})();
