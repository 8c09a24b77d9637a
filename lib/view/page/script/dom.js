// Making elements. Text enters the document here and only as text nodes: there is no innerHTML on
// this page, and its policy (require-trusted-types-for) refuses one.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** An element; `options` are attributes, except `text`, `on` {event: handler} and `class`. */
function make(tag, options, ...children) {
  return fill(document.createElement(tag), options, children);
}

function makeSvg(tag, options, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), options, children);
}

function fill(node, options, children) {
  for (const [name, value] of Object.entries(options || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event,
        run);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** Text of the data, kept from turning its surroundings around. */
function dataText(text, options) {
  return make("bdi", { dir: "auto", ...options, text });
}

function find(id) {
  return document.getElementById(id);
}

function replaceChildren(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child || child === ""));
}

// Writing what stands there already would cost the browser a style and a layout.

const madeOf = new WeakMap();

/** Makes the children anew where `key`, which names all that they are made of, is another than the last time. */
function refill(node, key, makeChildren) {
  if (madeOf.get(node) === key) return;
  madeOf.set(node, key);
  replaceChildren(node, makeChildren());
}

function putText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function putAttribute(node, name, value) {
  const text = String(value);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

function putStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/** One element a key, in their order: those of before whose key is the same stay as they are. `known` is
 *  what this gave the last time: [{key, node}]. */
function keepChildren(host, known, keys, makeChild) {
  const kept = keys.map((key, i) => {
    if (known[i] && known[i].key === key) return known[i];
    const node = makeChild(i);
    if (known[i]) known[i].node.replaceWith(node);
    else host.append(node);
    return { key, node };
  });
  for (const { node } of known.slice(keys.length)) node.remove();
  return kept;
}

/** Says something to a screen reader that the eye sees anyway. */
function announce(message) {
  const region = find("announcements");
  // The same words twice are no change, and would not be read.
  region.textContent = region.textContent === message ? message + "\u00a0" : message;
}

/** A row of choices that look like one switch and are radio buttons underneath. `choices`:
 *  [{value, label, hint}]. Rebuilt only when the choices change, so that the focus stays. */
function segmented(id, legend, onChoose) {
  const host = find(id);
  let shape = "";
  return {
    update(choices, chosen) {
      const wanted = JSON.stringify(choices);
      if (wanted !== shape) {
        shape = wanted;
        replaceChildren(host, make("legend", { text: legend }),
          make("div", { class: "segments" }, choices.map((choice) =>
            make("label", { class: "segment", title: choice.hint },
              make("input", { type: "radio", name: id, value: choice.value, "aria-label": choice.spoken,
                on: { change: () => onChoose(choice.value) } }),
              make("span", { text: choice.label })))));
      }
      for (const input of host.querySelectorAll("input")) input.checked = input.value === String(chosen);
      host.hidden = choices.length === 0;
    },
  };
}

/** Arrow keys inside a group of which one member can be reached by Tab. */
function moveInGrid(event, position, rows, columns) {
  const last = { row: rows - 1, column: columns - 1 };
  let { row, column } = position;
  const far = event.ctrlKey || event.metaKey;
  switch (event.key) {
    case "ArrowLeft": column -= 1; break;
    case "ArrowRight": column += 1; break;
    case "ArrowUp": row -= 1; break;
    case "ArrowDown": row += 1; break;
    case "Home": column = 0; if (far) row = 0; break;
    case "End": column = last.column; if (far) row = last.row; break;
    case "PageUp": row -= 10; break;
    case "PageDown": row += 10; break;
    default: return null;
  }
  if (event.altKey || (far && event.key.startsWith("Arrow"))) return null;
  event.preventDefault();
  return {
    row: Math.max(0, Math.min(last.row, row)),
    column: Math.max(0, Math.min(last.column, column)),
  };
}

const ruler = document.createElement("canvas").getContext("2d");

/** How wide a text is in the page's letters at 13 px. */
function textWidth(text, weight = 400) {
  ruler.font = `${weight} 13px ${themeColor("--font")}`;
  return ruler.measureText(text).width;
}

const calmMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** Runs at most once a frame, however often it is asked for. */
function oncePerFrame(run) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      run();
    });
  };
}
