// The worker of a standalone page: copies the files of a model, or of a training run, into the
// module's memory, and forwards requests.

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
    const text = module.ccall("attn_said", "string", [], []);
    return { status, text: status === 200 ? text : text.replaceAll(`${FOLDER}/`, "") };  // the user's folder has another name
  }

  /** What `run` answers while the files lie in a folder. */
  function withFiles(files, run) {
    for (const file of files) {
      const path = `${FOLDER}/${file.name}`;
      module.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      module.FS.writeFile(path, new Uint8Array(file.bytes), { canOwn: true });
    }
    const answer = run();
    for (const file of files) module.FS.unlink(`${FOLDER}/${file.name}`);
    return answer;
  }

  const open = ({ name, eightBits, files }) => withFiles(files,
      () => call("attn_open", ["string", "string", "number"], [FOLDER, name, eightBits ? 1 : 0]));
  const train = ({ name, files }) => withFiles(files, () => call("attn_train", ["string", "string"], [FOLDER, name]));

  async function hear({ data }) {
    try {
      if (data.module) {
        module = await make(data.module);
        postMessage({ opened: true, ...(data.training ? train(data.training) : open(data.model)) });
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
if (typeof module === "object") module.exports.worker = attnWorker;  // for Node in tests/alone
