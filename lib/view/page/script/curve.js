// The curve of a training run above its slider. Every moment has the same width, and measurements
// between two moments are drawn between them. A click jumps to the nearest moment.

const curveView = (() => {
  const HEIGHT = 168;
  const EDGE = { left: 44, right: 46, top: 22, bottom: 34 };
  let host = null;
  let key = null;
  let width = 0;

  /** Returns the position of an update on the axis of moments: 1.5 is halfway between the second
   *  and the third. */
  function placeOf(update, updates) {
    let i = 0;
    while (i + 1 < updates.length && updates[i + 1] <= update) ++i;
    if (i + 1 >= updates.length) return updates.length - 1;
    return Math.max(0, i + (update - updates[i]) / (updates[i + 1] - updates[i]));
  }

  function updatesOf(moments) {
    return moments.map(({ model }) => model.update);
  }

  function curveOf(moments) {
    const found = moments.find((record) => record.curve);
    return found ? found.curve : null;
  }

  /** Returns the measurements at an update, or the last ones before it: {loss, validation}. */
  function figuresAt(curve, update) {
    const last = (list) => list.filter((point) => point[0] <= update).pop();
    const exactly = (list) => list.find((point) => point[0] === update);
    return { loss: exactly(curve.train) || last(curve.train) || null, validation: exactly(curve.validations) || null };
  }

  function niceTop(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value) || value;
  }

  function path(points) {
    return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  }

  /** Returns the moments that are labelled below the axis: as many as fit, including the first
   *  and the last. */
  function namedMoments(updates, xOf) {
    const room = (i) => textWidth(thousands(updates[i])) * (11.5 / 13) + 10;
    const named = [0];
    for (let i = 1; i < updates.length; ++i) {
      const last = named[named.length - 1];
      if (xOf(i) - xOf(last) >= (room(i) + room(last)) / 2) named.push(i);
      else if (i === updates.length - 1 && named.length > 1) { named.pop(); named.push(i); }
    }
    return named;
  }

  function draw(moments, curve) {
    const updates = updatesOf(moments);
    const count = updates.length;
    const xAt = (place) => EDGE.left + (width - EDGE.left - EDGE.right) * place / (count - 1);
    const x = (update) => xAt(placeOf(update, updates));
    const bottom = HEIGHT - EDGE.bottom;
    const inside = ([update]) => update >= updates[0] && update <= updates[count - 1];
    const train = curve.train.filter((point) => inside(point) && point[1] === point[1] && point[1] !== null);
    const dev = curve.validations.filter((point) => inside(point));
    const losses = dev.filter((point) => point[1] !== null);
    const mostLoss = niceTop(Math.max(1e-9, ...train.map((point) => point[1]), ...losses.map((point) => point[1])));
    const yLoss = (loss) => bottom - (bottom - EDGE.top) * loss / mostLoss;
    const yScore = (score) => bottom - (bottom - EDGE.top) * score / 100;
    const line = (name, points) => (points.length === 0 ? null : makeSvg("path", { class: `curve ${name}`, d: path(points) }));
    const scores = (at) => dev.filter((point) => point[at] !== null).map((point) => [x(point[0]), yScore(point[at])]);
    const tick = (xText, y, text, anchor) => makeSvg("text", { class: "curve-tick", x: xText, y: y + 4, "text-anchor": anchor, text });
    replaceChildren(host, makeSvg("svg", { class: "curve-picture", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
        "aria-label": spoken(curve, updates) },
      [0, 0.5, 1].map((part) => [
        makeSvg("line", { class: "curve-grid", x1: EDGE.left, x2: width - EDGE.right, y1: yLoss(part * mostLoss), y2: yLoss(part * mostLoss) }),
        tick(EDGE.left - 7, yLoss(part * mostLoss), String(Number((part * mostLoss).toPrecision(3))), "end"),
        part === 1 ? tick(EDGE.left, 7, "loss", "start") : null,
        part === 1 && dev.length > 0 ? tick(width - EDGE.right, 7, "BLEU, chrF", "end") : null,
        dev.length > 0 ? tick(width - EDGE.right + 7, yScore(100 * part), String(100 * part), "start") : null]),
      updates.map((_, i) => makeSvg("line", { class: "curve-moment", x1: xAt(i), x2: xAt(i), y1: bottom, y2: bottom + 5 })),
      namedMoments(updates, xAt).map((i) => makeSvg("text", { class: "curve-tick", x: xAt(i), y: bottom + 20, "text-anchor": "middle", text: thousands(updates[i]) })),
      inside([curve.best]) ? makeSvg("text", { class: "curve-star", x: x(curve.best), y: bottom - 3, "text-anchor": "middle", text: "★" }) : null,
      line("is-train", train.map(([update, loss]) => [x(update), yLoss(loss)])),
      line("is-dev", losses.map(([update, loss]) => [x(update), yLoss(loss)])),
      line("is-chrf", scores(3)), line("is-bleu", scores(2)),
      makeSvg("line", { class: "curve-cursor", id: "curve-cursor", y1: EDGE.top - 6, y2: bottom + 5 }),
      makeSvg("g", { id: "curve-dots" })));
    drawn = { xAt, yLoss, yScore, updates };
  }

  let drawn = null;

  function spoken(curve, updates) {
    return `training from update ${updates[0]} to ${updates[updates.length - 1]}: the slider below shows the scores of each recorded update`;
  }

  /** Draws the cursor, and a dot on every line at the current moment. */
  function mark(curve) {
    const { xAt, yLoss, yScore, updates } = drawn;
    const x = xAt(state.moment);
    const cursor = find("curve-cursor");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const { loss, validation } = figuresAt(curve, updates[state.moment]);
    const dot = (name, y) => makeSvg("circle", { class: `curve-dot ${name}`, cx: x, cy: y, r: 4 });
    replaceChildren(find("curve-dots"),
      validation && validation[1] !== null ? dot("is-dev", yLoss(validation[1])) : loss && loss[0] === updates[state.moment] ? dot("is-train", yLoss(loss[1])) : null,
      validation && validation[3] !== null ? dot("is-chrf", yScore(validation[3])) : null,
      validation && validation[2] !== null ? dot("is-bleu", yScore(validation[2])) : null);
  }

  function legend(curve, update) {
    const { loss, validation } = figuresAt(curve, update);
    const item = (name, label, value, hint) => make("span", { class: "curve-item", title: hint }, make("span", { class: `curve-key ${name}` }), label, " ",
      make("span", { class: "number strong", "data-figure": name, text: value }));
    const figure = (value, digits) => (typeof value === "number" ? fixed(value, digits) : "–");
    return [
      item("is-train", "loss", loss ? figure(loss[1], 3) : "–", "training, label-smoothed, mean since the log line before"),
      curve.validations.length > 0 ? [
        item("is-dev", "dev loss", validation ? figure(validation[1], 3) : "–", "on the dev part, label-smoothed, without dropout"),
        item("is-bleu", "BLEU", validation ? figure(validation[2], 1) : "–", "of the dev part, 0 to 100"),
        item("is-chrf", "chrF", validation ? figure(validation[3], 1) : "–", "of the dev part, 0 to 100")] : null,
      make("span", { text: "every recorded update has the same width, whatever lies between" }),
      curve.best === undefined ? null : make("span", { class: `curve-item${curve.best === update ? " strong" : ""}`,
        text: curve.best === update ? "★ kept as the best" : `★ update ${thousands(curve.best)} was kept as the best` })];
  }

  function nearest(clientX) {
    const box = host.getBoundingClientRect();
    const part = (clientX - box.left - EDGE.left) / Math.max(1, width - EDGE.left - EDGE.right);
    return clamp(Math.round(part * (drawn.updates.length - 1)), drawn.updates.length);
  }

  function update(moments) {
    const curve = curveOf(moments);
    host.hidden = curve === null;
    find("training-figures").hidden = curve === null;
    if (curve === null) return;
    const room = host.clientWidth;
    if (key !== moments || room !== width) {
      key = moments;
      width = room;
      draw(moments, curve);
    }
    mark(curve);
    replaceChildren(find("training-figures"), legend(curve, moments[state.moment].model.update));
  }

  /** Starts the view; `jump` is called with the moment that was clicked. */
  function start(jump) {
    host = find("training-curve");
    let dragging = false;
    const follow = (event) => {
      const moment = nearest(event.clientX);
      if (moment !== state.moment) jump(moment);
    };
    host.addEventListener("pointerdown", (event) => {
      dragging = true;
      host.setPointerCapture(event.pointerId);
      follow(event);
    });
    host.addEventListener("pointermove", (event) => { if (dragging) follow(event); });
    for (const name of ["pointerup", "pointercancel"]) host.addEventListener(name, () => { dragging = false; });
    new ResizeObserver(oncePerFrame(() => { if (scene && !host.hidden) update(scene.sentence.moments); })).observe(host);
  }

  return { start, update };
})();
