// Runs the page's worker under Node: node ask.js MODULE MODEL EIGHT_BITS. Reads one question per
// line from stdin, {path, body}, and prints one line for each message of the worker, with the
// milliseconds that it took. If EIGHT_BITS is "train", MODEL is the folder of an experiment,
// toy.json.

const fs = require("fs");
const path = require("path");
const [, , folder, model, eightBits] = process.argv;
const { worker } = require(path.resolve(folder, "attn-demo.js"));

let begun = 0;
let heard = () => {};
global.postMessage = (message) => {
  process.stdout.write(JSON.stringify({ ms: performance.now() - begun, ...message }) + "\n");
  heard();
};

async function say(data) {
  const answer = new Promise((resolve) => { heard = resolve; });
  begun = performance.now();
  await worker.hear({ data });
  await answer;
}

function namesIn(folder, before = "") {
  return fs.readdirSync(path.join(folder, before), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(before, entry.name);
    return entry.isDirectory() ? namesIn(folder, name) : [name];
  });
}

async function main() {
  const module = await WebAssembly.compile(fs.readFileSync(path.join(folder, "attn-demo.wasm")));
  const files = namesIn(model).map((name) => ({ name, bytes: fs.readFileSync(path.join(model, name)) }));
  await say(eightBits === "train" ? { module, training: { name: "toy", files } } : { module, model: { name: model, eightBits: eightBits === "1", files } });
  for (const line of fs.readFileSync(0, "utf8").split("\n").filter((each) => each !== "")) await say(JSON.parse(line));
}

main();
