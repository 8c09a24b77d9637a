// Measures how fast the program inside the page translates (live/standalone.js), if the page's
// address asks for it: `?bench`, or `#bench`. `bench=10` measures with the first ten sentences.

const bench = (() => {
  const RUNS = 3;  // the median counts; a run before them is not measured
  const SEARCHES = [["greedy", 1], ["4 beams", 4]];
  // The address is read before live.js shortens it.
  const asked = /[?&#]bench(?:=(\d+))?(?=&|#|$)/.exec(location.search + location.hash);

  /** Returns the seconds that the program takes to translate the sentences. */
  async function seconds(sentences, beams) {
    const begun = performance.now();
    const answer = await alone.ask("/api/translate", { body: JSON.stringify({ text: sentences, beams }) });
    const took = (performance.now() - begun) / 1000;
    if (!answer.ok) throw new Error(JSON.parse(await answer.text()).error);
    return took;
  }

  async function measure(sentences, beams) {
    await seconds(sentences, beams);
    const all = [];
    for (let i = 0; i < RUNS; ++i) all.push(await seconds(sentences, beams));
    return all.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
  }

  const cells = (tag, ...texts) => make("tr", {}, texts.map((text) => make(tag, tag === "th" ? { scope: "col", text } : { class: "number", text })));

  /** Shows the panel, and measures one search after the other. */
  async function start() {
    if (!asked) return;
    const sentences = alone.sentences().slice(0, Number(asked[1]) || undefined);
    const words = sentences.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
    const rows = make("tbody", {});
    const says = make("p", { class: "quiet", role: "status", text: "measuring: please wait" });
    const panel = make("section", { class: "panel", id: "bench", "aria-labelledby": "bench-title" },
        make("div", { class: "section-head" }, make("h2", { id: "bench-title", text: "Speed" })),
        make("p", { text: `This page translates ${sentences.length} English sentences of ${thousands(words)} words, on one core.` }),
        make("table", { class: "figures" }, make("thead", {}, cells("th", "search", "words per second", "seconds")), rows),
        says);
    document.querySelector("main").prepend(panel);
    try {
      for (const [name, beams] of SEARCHES) {
        const took = await measure(sentences, beams);
        rows.append(cells("td", name, thousands(Math.round(words / took)), took.toFixed(2)));
      }
      putText(says, `Medians of ${RUNS} runs after one that is not counted. Words are those of the English text, as spaces separate them.`);
    } catch (problem) {
      putText(says, `not measured: ${problem.message}`);
    }
  }

  return { start };
})();
