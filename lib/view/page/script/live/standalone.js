// A page that translates by itself: the program's libraries, as WebAssembly in a worker, answer the
// requests that live.js otherwise sends to a server. Module and model are packed in the page;
// nothing is sent anywhere. Without them nothing here happens.

const alone = (() => {
  const PIECE = 1 << 20;  // base64 letters that are decoded at a time, a multiple of 4
  const MOST_BYTES = 1e9;  // maximum size of a model that is opened

  const program = makeModuleWorker(true);
  let started = null;  // rejects if nothing can run here
  let parts = null;  // {module, script}; null: not there yet, or never
  let training = null;  // {name, pairs, files: [{name, bytes}]}: the model that can be trained here
  let sentences = [];  // the text by which the page measures its speed

  function progress(fraction) {
    find("alone-progress").value = fraction;
  }

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  }

  /** Returns the bytes of an element of the page; `done` is called with the number of letters of
   *  each chunk. */
  async function unpack(id, done) {
    const host = find(id);
    if (!host) throw new Error("this file is not whole: it ends before its model does; copy it again");
    const text = host.textContent;
    host.remove();
    const stream = new DecompressionStream("gzip");
    const whole = new Response(stream.readable).arrayBuffer();
    const writer = stream.writable.getWriter();
    try {
      for (let at = 0; at < text.length; at += PIECE) {
        await writer.write(bytesOf(text.slice(at, at + PIECE)));
        done(Math.min(PIECE, text.length - at));
      }
      await writer.close();
      return await whole;
    } catch {
      await whole.catch(() => null);
      throw new Error("this file is damaged: what is packed in it cannot be unpacked; copy it again");
    }
  }

  async function compile(bytes) {
    try {
      return await WebAssembly.compile(bytes);
    } catch (problem) {
      if (/unsafe-eval|content security/i.test(problem.message)) {
        throw new Error("this page may not run WebAssembly here: a policy of whoever serves it forbids that (wasm-unsafe-eval)");
      }
      throw new Error(`this browser's WebAssembly lacks what the program needs (SIMD, exceptions): ${problem.message}`);
    }
  }

  /** Unpacks the page's contents and starts the program; `given` is {letters, module, script,
   *  name, eight_bits, files: [{id, name}], training: {name, pairs, files}, speed}. */
  async function start(given) {
    if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly, which the program here needs");
    if (typeof DecompressionStream !== "function") {
      throw new Error("this browser cannot unpack what this page holds (DecompressionStream); a newer one can");
    }
    find("alone").hidden = false;
    await new Promise((resolve) => {
      if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve);
      else resolve();
    });
    let letters = 0;
    const done = (more) => progress((letters += more) / given.letters);
    const unpacked = new Map();  // identical files share one element
    const bytesIn = (id) => {
      if (!unpacked.has(id)) unpacked.set(id, unpack(id, done));
      return unpacked.get(id);
    };
    const filesIn = (files) => Promise.all(files.map(async ({ name, id }) => ({ name, bytes: await bytesIn(id) })));
    const [module, script, files, toy, speed] = await Promise.all([bytesIn(given.module).then(compile), bytesIn(given.script),
      filesIn(given.files), filesIn(given.training.files), bytesIn(given.speed)]);
    parts = { module, script: URL.createObjectURL(new Blob([script], { type: "text/javascript" })) };
    const settings = await program.open({ ...parts, model: { name: given.name, eightBits: given.eight_bits, files } });
    training = { ...given.training, files: toy };
    sentences = new TextDecoder().decode(speed).trim().split("\n");
    find("alone").hidden = true;
    return settings;
  }

  const chosen = (files) => ({ name: files.length > 0 ? files[0].webkitRelativePath.split("/")[0] : "", files });

  /** Returns the files of a directory. Uses its handle, because Chromium reads none through the
   *  entry for a page from disk. */
  async function filesInside({ handle, entry }) {
    const found = [];
    if (handle) {
      for await (const one of (await handle).values()) if (one.kind === "file") found.push(await one.getFile());
      return found;
    }
    const reader = entry.createReader();
    for (;;) {  // it returns some at a time, none at the end
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return found;
      for (const one of some.filter((each) => each.isFile)) found.push(await new Promise((resolve, reject) => one.file(resolve, reject)));
    }
  }

  /** Returns the dropped files, or those of the dropped directory. */
  async function dropped(transfer) {
    // All entries are requested before the first await, which empties the transfer.
    const directories = Array.from(transfer.items, (item) => ({ item, entry: item.webkitGetAsEntry && item.webkitGetAsEntry() }))
      .filter(({ entry }) => entry && entry.isDirectory)
      .map(({ item, entry }) => ({ entry, handle: item.getAsFileSystemHandle ? item.getAsFileSystemHandle() : null }));
    const files = Array.from(transfer.files);
    if (directories.length === 0) return chosen(files);
    if (directories.length > 1) throw new Error("several directories were dropped here, and a model is one of them; drop that one");
    try {
      return { name: directories[0].entry.name, files: await filesInside(directories[0]) };
    } catch (problem) {
      throw new Error(`this browser does not let the page read that directory (${problem.message}); choose its files by “Open a model”`);
    }
  }

  /** Reads the bytes of the model files that the reader gave. */
  async function read({ name, files }) {
    await started;
    if (!files.some((file) => file.name === "config.json")) {
      throw new Error("no config.json among these files; a model's directory has one, with model.safetensors and its tokenizer");
    }
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    if (bytes > MOST_BYTES) {
      throw new Error(`these files have ${thousands(Math.round(bytes / 1e6))} MB, and at most ${thousands(MOST_BYTES / 1e6)} are taken`);
    }
    return { name: name || "the opened model", eightBits: false,
      files: await Promise.all(files.map(async (file) => ({ name: file.name, bytes: await file.arrayBuffer() }))) };
  }

  const open = (model) => program.open({ ...parts, model });

  return { start: (given) => { started = start(given); return started; }, ask: program.ask, chosen, dropped, read, open,
    parts: () => parts, training: () => training,
    sentences: () => sentences };
})();
