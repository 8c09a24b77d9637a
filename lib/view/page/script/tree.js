// The beam search as a tree, with steps from left to right. Kept nodes are solid, dropped ones
// faint, finished ones have a double frame. A click on a node shows the maps of the branch up to
// it.

const treeView = (() => {
  const STEP = 150;  // px between steps
  const ROW = 34;
  const BOX = { width: 120, height: 26 };
  let host = null;
  let drawn = null;  // the search on the page
  let dropped = null;  // true if dropped extensions are shown; null: if all of them fit
  const MOST_ROWS = 18;  // maximum number of rows that fit
  let boxes = [];     // {index, group, x, y}
  let open = false;  // the tree is drawn only when opened

  function visibleNodes(search) {
    const inner = new Set(search.nodes.map((node) => node.parent));
    return search.nodes.map((node, index) => ({ node, index }))
      .filter(({ node, index }) => dropped || node.kept || node.ended || inner.has(index));
  }

  /** Lays out the tree: leaves from top to bottom in the order of the tree, parents centred on
   *  their children. */
  function layoutOf(search) {
    const children = new Map();
    for (const { node, index } of visibleNodes(search)) {
      if (!children.has(node.parent)) children.set(node.parent, []);
      children.get(node.parent).push(index);
    }
    const places = new Map();
    let nextRow = 0;
    // Without recursion: a search may be as deep as the longest sentence.
    const stack = [{ index: -1, next: 0 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const below = children.get(top.index) || [];
      if (top.next < below.length) {
        stack.push({ index: below[top.next++], next: 0 });
        continue;
      }
      const rows = below.map((child) => places.get(child).row);
      const row = rows.length === 0 ? nextRow++ : (rows[0] + rows[rows.length - 1]) / 2;
      const depth = top.index < 0 ? 0 : search.nodes[top.index].step + 1;
      places.set(top.index, { row, depth });
      stack.pop();
    }
    let deepest = 0;
    // a loop, because there may be too many for Math.max(...)
    for (const { depth } of places.values()) deepest = Math.max(deepest, depth);
    return { places, rows: Math.max(1, nextRow), depth: deepest };
  }

  function describe(node) {
    const fate = node.ended ? "ended" : node.kept ? "kept" : "dropped";
    return `step ${node.step}, ${printable(node.token)}, ${fate}, log-probability ${fixed(node.log_prob, 3)}, sum ${fixed(node.sum, 3)}, score ${fixed(node.score, 3)}`;
  }

  /** Returns the longest prefix of a label that fits in its box beside the score. */
  function fit(text, room) {
    const letters = Array.from(text);
    if (textWidth(text, 600) <= room) return text;
    while (letters.length > 1 && textWidth(letters.join("") + "…", 600) > room) letters.pop();
    return letters.join("") + "…";
  }

  function box(search, index, x, y) {
    const node = search.nodes[index];
    const label = tokenLabels([node.token])[0];
    const fate = node.ended ? "ended" : node.kept ? "kept" : "dropped";
    const score = fixed(node.score, 2);
    const text = makeSvg("text", {
      class: "node-token", x: 10, y: BOX.height / 2, "dominant-baseline": "central", direction: "ltr",
          "unicode-bidi": "isolate",
      text: fit(label, BOX.width - 26 - textWidth(score)),
    });
    const group = makeSvg("g", {
      class: `node is-${fate}`, role: "treeitem", tabindex: "-1", "data-node": index,
          transform: `translate(${x} ${y - BOX.height / 2})`,
      "aria-level": node.step + 1, "aria-label": describe(node),
    },
      makeSvg("title", { text: describe(node) }),
      makeSvg("rect", { class: "node-box", width: BOX.width, height: BOX.height, rx: 6 }),
      node.ended ? makeSvg("rect", { class: "node-inner", x: 3, y: 3, width: BOX.width - 6,
          height: BOX.height - 6, rx: 4 }) : null,
      text,
      makeSvg("text", { class: "node-score", x: BOX.width - 9, y: BOX.height / 2, "text-anchor": "end",
          "dominant-baseline": "central",
        text: score }));
    return group;
  }

  function edge(from, to, kept) {
    const x0 = from.x + (from.root ? 10 : BOX.width);
    const bend = (to.x - x0) / 2;
    return makeSvg("path", { class: kept ? "edge" : "edge is-dropped",
        d: `M${x0} ${from.y}C${x0 + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}` });
  }

  function draw(search) {
    const { places, rows, depth } = layoutOf(search);
    const top = 34;
    const at = (index) => {
      const place = places.get(index);
      return { x: index < 0 ? 6 : 34 + (place.depth - 1) * STEP, y: top + (place.row + 0.5) * ROW,
          root: index < 0 };
    };
    const width = 34 + depth * STEP;
    const height = top + rows * ROW + 8;
    const inner = new Set(search.nodes.map((node) => node.parent));
    const edges = [];
    boxes = [];
    for (const { node, index } of visibleNodes(search)) {
      const place = at(index);
      edges.push(edge(at(node.parent), place, node.kept || node.ended || inner.has(index)));
      boxes.push({ index, group: box(search, index, place.x, place.y), ...place });
    }
    const root = at(-1);
    replaceChildren(host, makeSvg("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`,
        role: "tree", "aria-label": "the beam search: arrow keys move, Enter shows a branch" },
      Array.from({ length: depth }, (_, step) => makeSvg("text",
          { class: "tree-step", x: 34 + step * STEP + BOX.width / 2, y: 14, "text-anchor": "middle",
          "aria-hidden": "true", text: step === 0 ? "step 0" : step })),
      makeSvg("circle", { class: "root", cx: root.x + 5, cy: root.y, r: 5 }), edges,
          boxes.map((entry) => entry.group)));
  }

  function mark(search) {
    const chosen = state.branch === null ? [] : pathTo(search, state.branch);
    const best = state.branch === null ? pathOfHypothesis(search) : chosen;
    const path = new Set(best);
    const stop = state.branch !== null ? state.branch : best.length > 0 ? best[best.length - 1]
        : boxes.length > 0 ? boxes[0].index : -1;
    for (const { index, group } of boxes) {
      group.classList.toggle("is-path", path.has(index));
      group.setAttribute("aria-selected", String(index === state.branch));
      group.setAttribute("tabindex", index === stop ? "0" : "-1");
    }
    if (boxes.length > 0 && !boxes.some((entry) =>
        entry.index === stop)) boxes[0].group.setAttribute("tabindex", "0");
  }

  /** Returns the nodes of the hypothesis on show, as far as the tree contains them. */
  function pathOfHypothesis(search) {
    const ids = scene.hypothesis && scene.hypothesis.branch === undefined ? scene.hypothesis.ids : [];
    return pathOf(search, ids);
  }

  function choose(index) {
    change({ branch: index });
    announce(`branch: ${printable(scene.hypothesis.text)}`);
    focusNode(index);
  }

  function focusNode(index) {
    const found = boxes.find((entry) => entry.index === index);
    if (!found) return;
    for (const { group } of boxes) group.setAttribute("tabindex", group === found.group ? "0" : "-1");
    found.group.focus();
  }

  /** Returns the node that an arrow key moves to. Right: the nearest child; left: the parent; up
   *  and down: the nearest of the same step. */
  function neighbour(from, key) {
    const nodes = drawn.nodes;
    const step = nodes[from.index].step;
    if (key === "ArrowLeft") return boxes.find((entry) => entry.index === nodes[from.index].parent);
    const near = (list) => list.sort((a, b) => Math.abs(a.y - from.y) - Math.abs(b.y - from.y))[0];
    if (key === "ArrowRight") return near(boxes.filter((entry) => nodes[entry.index].parent === from.index));
    const down = key === "ArrowDown";
    return near(boxes.filter((entry) => nodes[entry.index].step === step
        && (down ? entry.y > from.y : entry.y < from.y)));
  }

  function onKey(event) {
    const group = event.target.closest(".node");
    if (!group) return;
    const here = boxes.find((entry) => entry.group === group);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(here.index);
    } else if (event.key.startsWith("Arrow") && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const next = neighbour(here, event.key);
      if (next) focusNode(next.index);
    }
  }

  function update() {
    const search = scene.record.search;
    const none = !search || search.nodes.length === 0;
    find("tree").hidden = none;
    find("to-tree").hidden = none;
    if (none) {
      drawn = null;
      return;
    }
    if (state.branch !== null) open = true;
    find("tree-fold").setAttribute("aria-expanded", String(open));
    find("tree-fold").textContent = open ? "fold" : `show what it looked at (${plural(search.nodes.length, "extension")})`;
    find("tree-content").hidden = !open;
    find("tree-check").hidden = !open;
    if (!open) {
      drawn = null;
      return;
    }
    if (drawn !== search) {
      drawn = search;
      if (dropped === null) {
        dropped = true;
        dropped = layoutOf(search).rows <= MOST_ROWS;
        find("tree-dropped").checked = dropped;
      }
      draw(search);
      showBeginning();
      find("tree-says").textContent = `${plural(search.beams, "beam")}, length penalty ${exact(search.length_penalty)}. Each step keeps the best; the number is the score: the sum of log-probabilities ÷ length^penalty.`;
    }
    mark(search);
    const branch = state.branch === null ? null : search.nodes[state.branch];
    replaceChildren(find("branch-says"), branch ? [make("span", { class: "strong", text: "Branch: " }),
        dataText(printable(scene.hypothesis.text)),
      make("span", { class: "quiet", text: ` · ${describe(branch)} · its maps are shown above ` }),
      make("button", { type: "button", class: "text-button", id: "branch-close",
          text: "back to the translation", on: { click: () => {
        const index = state.branch;
        change({ branch: null });
        focusNode(index);
      } } })]
      : make("span", { class: "quiet", text: "Click a node to see the maps of its branch." }));
  }

  /** Scrolls the box to the start of the search. */
  function showBeginning() {
    const root = host.querySelector(".root");
    host.scrollLeft = 0;
    host.scrollTop = Math.max(0, Number(root.getAttribute("cy")) - host.clientHeight / 2);
  }

  function unfold(wanted) {
    open = wanted;
    if (!open && state.branch !== null) change({ branch: null });
    else update();
  }

  function start() {
    host = find("tree-picture");
    find("tree-fold").addEventListener("click", () => unfold(!open));
    find("to-tree").addEventListener("click", () => unfold(true));
    host.addEventListener("click", (event) => {
      const group = event.target.closest(".node");
      if (group) choose(Number(group.dataset.node));
    });
    host.addEventListener("keydown", onKey);
    find("tree-dropped").addEventListener("change", (event) => {
      dropped = event.target.checked;
      drawn = null;
      update();
    });
  }

  return { start, update };
})();
