// The worker of a page that translates alone: it puts the model's files into the module's memory, and hands questions on.

const attnWorker = (() => {
  const FOLDER = "/model";
  let module = null;

  const make = (compiled) => attnModule({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(compiled, imports).then((instance) => done(instance, compiled),
          (problem) => postMessage({ broken: problem.message }));
      return {};
    },
    onAbort(reason) { throw new Error(String(reason)); },
    print() {},
    printErr() {},
  });

  /** {status, text} of a call. */
  function call(name, types, values) {
    const status = module.ccall(name, "number", types, values);
    return { status, text: module.ccall("attn_said", "string", [], []) };
  }

  function open({ name, eightBits, files }) {
    module.FS.mkdirTree(FOLDER);
    for (const file of files) module.FS.writeFile(`${FOLDER}/${file.name}`, new Uint8Array(file.bytes), { canOwn: true });
    const answer = call("attn_open", ["string", "string", "number"], [FOLDER, name, eightBits ? 1 : 0]);
    for (const file of files) module.FS.unlink(`${FOLDER}/${file.name}`);
    return answer;
  }

  async function hear({ data }) {
    try {
      if (data.module) {
        module = await make(data.module);
        postMessage({ opened: true, ...open(data.model) });
      } else {
        postMessage(call("attn_ask", ["string", "string"], [data.path, data.body]));
      }
    } catch (problem) {
      postMessage({ broken: /out of memory|OOM|allocat|enlarge/i.test(problem.message) ? "out of memory; a shorter sentence, fewer beams or a smaller model may do"
          : problem.message });
    }
  }

  return { hear };
})();

if (typeof WorkerGlobalScope !== "undefined") onmessage = attnWorker.hear;
if (typeof module === "object") module.exports.worker = attnWorker;  // Node's, for tests/alone
