// The program as WebAssembly in a worker of this page, and the questions that it is asked, one at a time.

const workerPolicy = window.trustedTypes ? trustedTypes.createPolicy("attn-worker", { createScriptURL: (url) => url })
    : { createScriptURL: (url) => url };

/** A worker, once something is opened in it; questions wait for that. Where it `forgets` nothing is lost when it is ended: it
 *  is started anew after a failure, and where it works on what nobody waits for. */
function makeModuleWorker(forgets) {
  const STALE = 300;  // ms that a question which nobody waits for may hold up another

  let content = null;  // what is opened: {module, script} and {model} or {training}
  let standing = null; // of what was opened last and is there
  let worker = null;   // null: none yet, or it has failed
  let ready = false;   // the worker has opened it
  let ended = null;    // an Error: nothing is answered any more
  let running = null;  // the question that it works on
  let queue = [];      // those behind it: {path, body, resolve, reject, stale}
  let hurry = 0;       // the timer of STALE
  let opening = null;  // {resolve, reject} of who opens something

  /** A worker with the content; whoever waits for it is told. */
  function begin() {
    if (worker) worker.terminate();
    if (running && !running.stale) queue.unshift(running);  // whose worker is gone
    running = null;
    ready = false;
    ended = null;
    const mine = worker = new Worker(workerPolicy.createScriptURL(content.script));
    worker.onmessage = ({ data }) => { if (worker === mine) hear(data); };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === mine) fail(new Error(`the program stopped: ${event.message || "this browser starts no worker here"}`));
    };
    worker.postMessage(content);
  }

  /** The worker is of no use any more. */
  function fail(problem) {
    worker.terminate();
    worker = null;
    const all = [running, ...queue, opening].filter((one) => one !== null);
    running = opening = null;
    queue = [];
    for (const one of all) one.reject(problem);
    if (!forgets) ended = problem;
    else if (ready) begin();  // with the next question it may go better
  }

  function hear({ opened, broken, status, text }) {
    if (broken) {
      fail(new Error(`the program stopped: ${broken}`));
    } else if (opened) {
      ready = status === 200;
      if (!ready) fail(new Error(JSON.parse(text).error));
      else if (opening) opening.resolve(JSON.parse(text));
      opening = null;
    } else if (running) {
      running.resolve({ ok: status === 200, status, text: async () => text });
      running = null;
    }
    next();
  }

  function next() {
    clearTimeout(hurry);
    if (!ready) return;
    if (running) {  // on what nobody waits for another worker need not go on
      const waits = forgets && running.stale && queue.length > 0;
      if (waits) hurry = setTimeout(begin, Math.max(0, running.stale + STALE - performance.now()));
      return;
    }
    running = queue.shift() || null;
    if (running) worker.postMessage({ path: running.path, body: running.body });
  }

  /** As fetch() does it: an answer with `ok`, `status` and `text()`. */
  function ask(path, { body, signal }) {
    return new Promise((resolve, reject) => {
      if (ended) {
        reject(ended);
        return;
      }
      const question = { path, body, resolve, reject, stale: 0 };
      if (signal) {
        signal.addEventListener("abort", () => {
          reject(signal.reason);
          queue = queue.filter((one) => one !== question);
          question.stale = performance.now();
          next();
        });
      }
      queue.push(question);
      if (!worker && content) begin();
      next();
    });
  }

  /** Opens {module, script} with {model: {name, eightBits, files: [{name, bytes}]}} or {training: {name, files}}; what the page
   *  then says of itself. Where it cannot be opened, that of before stays. */
  async function open(wanted) {
    if (opening) opening.reject(new Error("another model was opened meanwhile"));
    const settings = new Promise((resolve, reject) => { opening = { resolve, reject }; });
    content = wanted;
    begin();
    try {
      const said = await settings;
      standing = wanted;
      return said;
    } catch (problem) {
      if (content === wanted) {  // nothing else was opened meanwhile
        content = standing;
        if (content) begin();
      }
      throw problem;
    }
  }

  /** Ends it; its memory is free again. */
  function end() {
    if (worker) fail(new Error("ended"));
    ended = new Error("ended");
  }

  return { ask, open, end };
}
