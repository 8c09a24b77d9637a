// The word alignment as crossing lines: source words above, target words below. If the words do not
// fit side by side, source words are on the left and target words on the right.

const WORD_GAP = 16;  // px between words
const LINE_ROOM = 74; // px between the two rows of words

function alignmentLine(from, to, weight, lying) {
  const middle = lying ? (from.x + to.x) / 2 : (from.y + to.y) / 2;
  const d = lying ? `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`
      : `M${from.x} ${from.y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
  return makeSvg("path", { class: "link-line", d, "stroke-width": (1 + 2 * weight).toFixed(2) });
}

/** Draws the picture. `links`: [{source, target, weight}], by word position. */
function alignmentPicture(source, target, links, room, label) {
  const size = (word) => textWidth(word, 500) * (15 / 13);
  const lengthOf = (words) => words.reduce((sum, word) => sum + size(word) + WORD_GAP, 0);
  const across = Math.max(lengthOf(source), lengthOf(target)) <= room;
  const linked = { source: new Set(links.map((link) => link.source)), target: new Set(links.map((link) => link.target)) };
  const word = (side, text, i, place) => makeSvg("text", { ...place,
      class: `link-word link-${side}${linked[side].has(i) ? "" : " is-alone"}`, direction: "ltr",
      "unicode-bidi": "isolate", text });
  const lines = (points, lying) => links.map((link) => alignmentLine(points.source[link.source],
      points.target[link.target], link.weight, lying));
  const frame = (width, height, content) => makeSvg("svg", { class: "alignment-picture", width, height,
      viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, content);
  if (!across) {
    const tall = 24;
    const left = Math.max(...source.map(size), 0);
    const right = Math.max(...target.map(size), 0);
    const gap = Math.max(60, Math.min(260, room - left - right - 24));
    const height = tall * Math.max(source.length, target.length);
    const place = (words, x) => words.map((_, i) => ({ x,
        y: (height - words.length * tall) / 2 + (i + 0.5) * tall }));
    const points = { source: place(source, left + 8), target: place(target, left + 8 + gap) };
    return frame(left + gap + right + 16, height, [lines(points, true),
      source.map((text, i) => word("source", text, i, { x: left, y: points.source[i].y, "text-anchor": "end",
          "dominant-baseline": "central" })),
      target.map((text, i) => word("target", text, i, { x: left + 16 + gap, y: points.target[i].y,
          "dominant-baseline": "central" }))]);
  }
  const width = Math.max(lengthOf(source), lengthOf(target));
  const place = (words, y) => {
    let x = (width - lengthOf(words)) / 2;
    return words.map((text) => {
      const point = { x: x + (size(text) + WORD_GAP) / 2, y };
      x += size(text) + WORD_GAP;
      return point;
    });
  };
  const points = { source: place(source, 24), target: place(target, 24 + LINE_ROOM) };
  return frame(width, LINE_ROOM + 48, [lines(points, false),
    source.map((text, i) => word("source", text, i, { x: points.source[i].x, y: 15, "text-anchor": "middle" })),
    target.map((text, i) => word("target", text, i, { x: points.target[i].x, y: LINE_ROOM + 42,
        "text-anchor": "middle" }))]);
}
