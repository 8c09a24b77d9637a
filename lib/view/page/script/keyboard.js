// Single-key shortcuts that work anywhere on the page, and the list of them, in which they can be
// switched off.

const keyboard = (() => {
  let enabled = true;

  const step = (value, count, by) => (count === 0 ? 0 : (value + by + count) % count);
  const next = (key) => change({ [key]: CHOICES[key][step(CHOICES[key].indexOf(state[key]),
      CHOICES[key].length, 1)] });

  /** Moves to the next head that is switched on, across layers. */
  function moveHead(by) {
    const { layers, heads } = scene.shape;
    let at = state.layer * heads + state.head;
    for (let tried = 0; tried < layers * heads; ++tried) {
      at = step(at, layers * heads, by);
      const [layer, head] = [Math.floor(at / heads), at % heads];
      if (isOn(state.kind, layer, head)) return change({ layer, head, mean: "one" });
    }
    return undefined;
  }

  function leave() {
    if (state.cell) stepsView.close();
    else if (state.lock) change({ lock: null });
    else if (state.branch !== null) change({ branch: null });
  }

  const KEYS = [
    { keys: ["1", "2", "3"], says: "encoder, decoder, cross-attention", run: (key) =>
        change({ kind: CHOICES.kind[Number(key) - 1] }) },
    { keys: ["h", "H"], says: "next, previous head that is on", run: (key) =>
        moveHead(key === "h" ? 1 : -1) },
    { keys: ["l", "L"], says: "next, previous layer", run: (key) =>
        change({ layer: step(state.layer, scene.shape.layers, key === "l" ? 1 : -1) }) },
    { keys: ["o"], says: "switch the head on or off", run: () => toggleHead(state.layer, state.head) },
    { keys: ["m"], says: "one head, the layer in colours, its mean, mean of all", run: () => next("mean") },
    { keys: ["w"], says: "subwords or whole words", run: () => next("unit") },
    { keys: ["v"], says: "lines and heat map, lines, heat map", run: () => next("view") },
    { keys: ["d"], says: "numbers: two decimals, exact, none", run: () => next("digits") },
    { keys: ["+", "-"], says: "fewer, more lines", run: (key) =>
        change({ least: clamp(Math.round(linesView.least() * 100) + (key === "+" ? 5 : -5), 51) }) },
    { keys: ["r"], says: "shade by weight or by its root", run: () => next("shade") },
    { keys: ["n", "N"], says: "next, previous translation", run: (key) =>
        change({ hypothesis: step(state.hypothesis, scene.record.hypotheses.length, key === "n" ? 1 : -1),
        branch: null }) },
    { keys: ["s", "S"], says: "next, previous sentence", run: (key) =>
        change({ sentence: step(state.sentence, sentences.length, key === "s" ? 1 : -1) }) },
    { keys: ["t", "T"], says: "later, earlier in the training", run: (key) =>
        change({ moment: clamp(state.moment + (key === "t" ? 1 : -1), scene.sentence.moments.length) }) },
    { keys: ["p"], says: "play or pause the training", run: () => trainingView.play() },
    { keys: ["c"], says: "light or dark colours", run: () => controls.nextTheme() },
    { keys: ["Escape"], says: "close the step-by-step, unlock, leave the branch", run: leave },
    { keys: ["?"], says: "these keys", run: openHelp },
  ];

  const GRIDS = [
    ["Tab", "from part to part; every picture is one stop"],
    ["Arrow keys, Home, End, Page", "inside the overview, the heat map, the words and the tree"],
    ["Enter or Space", "choose a head, lock a word, explain a cell, show a branch"],
  ];

  function openHelp() {
    const dialog = find("keys");
    if (!dialog.open) dialog.showModal();
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("select, textarea, input:not([type=radio]):not([type=checkbox]), dialog")) return;
    const found = [...KEYS, ...liveView.keys()].find((entry) => entry.keys.includes(event.key));
    if (!found || (!enabled && event.key !== "Escape")) return;
    const before = scene.title;
    event.preventDefault();
    found.run(event.key);
    if (scene.title !== before) announce(scene.title);
  }

  function writeHelp() {
    const row = (keys, says) => make("div", { class: "key-row" },
        make("dt", {}, keys.map((key) => make("kbd", { text: key === "Escape" ? "Esc" : key }))),
        make("dd", { text: says }));
    replaceChildren(find("keys-list"), GRIDS.map(([key, says]) => row([key], says)),
        [...KEYS, ...liveView.keys()].map((entry) => row(entry.keys, entry.says)));
  }

  function start() {
    writeHelp();
    document.addEventListener("keydown", onKey);
    find("help").addEventListener("click", openHelp);
    find("keys-close").addEventListener("click", () => find("keys").close());
    find("keys-on").addEventListener("change", (event) => { enabled = event.target.checked; });
  }

  return { start };
})();
