// The program as WebAssembly in a worker of this page. It answers one question at a time.

const workerPolicy = window.trustedTypes ? trustedTypes.createPolicy("attn-worker", { createScriptURL: (url) => url })
    : { createScriptURL: (url) => url };

/** Creates a worker. Questions wait until something is opened in it. If it `forgets`,
 *  terminating it loses nothing: it is restarted after a failure, and when it works on a
 *  question that was aborted. */
function makeModuleWorker(forgets) {
  const STALE = 300;  // ms that an aborted question may delay another

  let content = null;  // the content to open: {module, script} and {model} or {training}
  let standing = null;  // the content that was opened last and works
  let worker = null;  // null: not started, or failed
  let ready = false;  // the worker has opened the content
  let ended = null;  // an Error: no more questions are answered
  let running = null;  // the question in progress
  let queue = [];  // waiting questions: {path, body, resolve, reject, stale}
  let hurry = 0;  // the timer of STALE
  let opening = null;  // {resolve, reject} of the pending open()

  /** Starts a worker with the content; it answers the question in progress and the waiting ones. */
  function begin() {
    if (worker) worker.terminate();
    if (running && !running.stale) queue.unshift(running);  // its worker is gone
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

  /** Handles a failure of the worker, which cannot be used any more. */
  function fail(problem) {
    worker.terminate();
    worker = null;
    const all = [running, ...queue, opening].filter((one) => one !== null);
    running = opening = null;
    queue = [];
    for (const one of all) one.reject(problem);
    if (!forgets) ended = problem;
    else if (ready) begin();  // the next question may succeed
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
    if (running) {  // an aborted question is not continued in another worker
      const waits = forgets && running.stale && queue.length > 0;
      if (waits) hurry = setTimeout(begin, Math.max(0, running.stale + STALE - performance.now()));
      return;
    }
    running = queue.shift() || null;
    if (running) worker.postMessage({ path: running.path, body: running.body });
  }

  /** Asks a question like fetch(): returns an answer with `ok`, `status` and `text()`. */
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

  /** Opens {module, script} with {model: {name, eightBits, files: [{name, bytes}]}} or
   *  {training: {name, files}}, and returns the page's settings for it. If it cannot be opened,
   *  the previous content stays. */
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

  /** Ends the worker and frees its memory. */
  function end() {
    if (worker) fail(new Error("ended"));
    ended = new Error("ended");
  }

  return { ask, open, end };
}
