// The metrics of every head as a sortable table, and the word alignment of the best head.

const COLUMNS = [
  { key: "place", label: "head", says: "kind:layer:head, as --show, --head and --without take it" },
  { key: "entropy", label: "entropy",
      says: "How spread out its rows are, in nats: 0 is one word, ln S all S words alike", digits: 2 },
  { key: "distance", label: "distance", says: "How far away it looks on the mean, in tokens", digits: 2 },
  { key: "diagonality", label: "diagonal",
      says: "1: it looks along the diagonal; 0: as far from it as can be", digits: 2, share: true },
  { key: "end_mass", label: "on end", says: "Weight on the end symbol (in the decoder: on the start symbol)",
      digits: 2, share: true },
  { key: "punctuation_mass", label: "on punctuation", says: "Weight on punctuation", digits: 2, share: true },
  { key: "alignment", label: "aligns", says: "How well it pairs words one to one: 1 is perfect", digits: 2,
      share: true },
  { key: "read_alignment", label: "reads",
      says: "The same for the words that the steps read; a head better at that is never among the best",
      digits: 2, share: true },
];

const reportView = (() => {
  let host = null;
  let drawn = {};  // what the page shows now, so that another head does not rebuild it

  function rowsFor(report, columns) {
    const rows = [];
    report.forEach((heads, layer) => heads.forEach((figures, head) => {
      if (figures) rows.push({ layer, head, figures });
    }));
    const key = state.sort.replace(/^-/, "");
    const column = columns.find((other) => other.key === key);
    if (!column || key === "place") return state.sort === "-place" ? rows.reverse() : rows;
    const sign = state.sort.startsWith("-") ? -1 : 1;
    const valueOf = (row) => (typeof row.figures[key] === "number" ? row.figures[key] : NaN);
    return rows.sort((a, b) => {
      const [x, y] = [valueOf(a), valueOf(b)];
      if (x !== x || y !== y) return (x !== x) - (y !== y);  // undefined metrics come last
      return sign * (x - y);
    });
  }

  function sortBy(key) {
    // The first click sorts from the largest, but heads in their order; the next click reverses it.
    const first = key === "place" ? "place" : `-${key}`;
    const other = key === "place" ? "-place" : key;
    change({ sort: state.sort === first ? other : first });
    const button = host.querySelector(`[data-sort="${key}"]`);
    if (button) button.focus();
  }

  function headCell(column) {
    const up = state.sort === column.key;
    const down = state.sort === `-${column.key}`;
    return make("th", { scope: "col", class: column.key === "place" ? "" : "number", "aria-sort": up
        ? "ascending" : down ? "descending" : "none" },
      make("button", { type: "button", class: "sort", title: column.says, "data-sort": column.key,
          on: { click: () => sortBy(column.key) } },
        column.label, make("span", { class: "sort-mark", "aria-hidden": "true", text: up ? "↑" : down ? "↓"
            : "" })));
  }

  function figureCell(column, value, top) {
    if (typeof value !== "number") return make("td", { class: "number quiet", text: "–" });
    const bar = make("span", { class: "bar" });
    bar.style.width = `${Math.max(0, Math.min(1, value / top)) * 100}%`;
    return make("td", { class: "number", "data-key": column.key, "data-value": value, title: exact(value) },
      make("span", { text: fixed(value, column.digits) }),
          make("span", { class: "bar-room", "aria-hidden": "true" }, bar));
  }

  function bodyRow(row, columns, tops, best) {
    const key = headKey(row.layer, row.head);
    const choose = () => {
      change({ layer: row.layer, head: row.head, mean: "one" });
      announce(`${scene.title} is shown`);
    };
    return make("tr", { "data-layer": row.layer, "data-head": row.head },
      make("th", { scope: "row" },
        make("button", { type: "button", class: "text-button", text: headName(scene.kind, row.layer, row.head),
          on: { click: choose } }),
        best.has(key) ? make("span", { class: "star", title: `number ${best.get(key)} of those that align best`, text: ` ★${best.get(key)}` }) : null),
      columns.slice(1).map((column) => figureCell(column, row.figures[column.key], tops[column.key])));
  }

  function table(report) {
    const has = (key) => report.some((heads) => heads.some((figures) => figures
        && typeof figures[key] === "number"));
    const columns = COLUMNS.filter((column) => column.key === "place" || has(column.key));
    const tops = {};
    for (const column of columns.slice(1)) {
      const values = report.flat().map((figures) => figures && figures[column.key]).filter((value) =>
          typeof value === "number");
      tops[column.key] = column.share ? 1 : Math.max(1e-9, ...values);
    }
    const best = scene.kind === "cross" ? bestHeads(scene.hypothesis) : new Map();
    return make("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": "figures of all heads" },
      make("table", { class: "report-table" },
        make("caption", { class: "unseen", text: `every head of ${KINDS[scene.kind].name}` }),
        make("thead", {}, make("tr", {}, columns.map(headCell))),
        make("tbody", {}, rowsFor(report, columns).map((row) => bodyRow(row, columns, tops, best)))));
  }

  /** Shows the aligned words, if there are any. */
  function alignment() {
    const found = scene.hypothesis && scene.hypothesis.alignment;
    if (!found) return null;
    const [source, target] = [found.source, found.target].map((words) => words.map(({ text }) => printable(text)));
    // Links refer to words by their numbers in the text, which also count words without an entry.
    const placeOf = (words) => new Map(words.map(({ index }, place) => [index, place]));
    const [sources, targets] = [placeOf(found.source), placeOf(found.target)];
    const links = found.links.map((link) => ({ ...link, source: sources.get(link.source), target: targets.get(link.target) }));
    const from = ` by ${found.from}`;
    const room = document.querySelector("main").clientWidth - 150;
    return make("div", { class: "alignment" },
      make("h3", { text: `Word alignment${from}` }),
      make("div", { class: "scroll" }, alignmentPicture(source, target, links, room,
          `word alignment${from}: ${links.map((link) => `${source[link.source]} – ${target[link.target]}`).join(", ")}`)));
  }

  /** Explains the order of the stars. */
  function starOrder() {
    if ((scene.record.model.alignment_heads || []).length === 0) {
      return " Stars: ★1 to ★3 have the most in the column aligns; a head that pairs words better with what it reads is not among them.";
    }
    return " Stars: ★1 to ★3 align words best. Their order belongs to the model and is the same for every sentence (for the shipped English to German: how well a head agrees with alignments made by hand), so it may differ from the column aligns here.";
  }

  /** Marks the row of the head on show. */
  function mark() {
    for (const row of host.querySelectorAll("tr[data-layer]")) {
      const chosen = Number(row.dataset.layer) === state.layer && Number(row.dataset.head) === state.head &&
                     state.mean === "one";
      row.classList.toggle("is-chosen", chosen);
      if (chosen) row.querySelector("button").setAttribute("aria-current", "true");
      else row.querySelector("button").removeAttribute("aria-current");
    }
  }

  function update() {
    const report = reportOf(scene.record, scene.hypothesis, scene.kind);
    const hypothesis = scene.kind === "cross" ? scene.hypothesis : null;
    const same = drawn.report === report && drawn.hypothesis === hypothesis && drawn.sort === state.sort;
    if (!same) {
      const over = overall && state.over === "all"
          ? `over all rows of all ${overall.sentences} sentences` : "over all its rows";
      drawn = { report, hypothesis, sort: state.sort };
      const links = hypothesis ? alignment() : null;
      find("report").hidden = !report && !links;
      find("to-report").hidden = find("report").hidden;
      const aligns = report && report.flat().some((figures) => figures && typeof figures.alignment === "number");
      find("report-says").textContent = !report ? "" : `What each head does, ${over}.` +
        (scene.kind === "cross" && aligns ? starOrder() : "");
      replaceChildren(host, report ? table(report) : "", links || "");
    }
    mark();
  }

  function start() {
    host = find("report-content");
  }

  return { start, update };
})();
