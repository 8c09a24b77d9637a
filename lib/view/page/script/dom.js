// Creating elements. All text enters the document here, and only as text nodes: this page has no
// innerHTML, and its policy (require-trusted-types-for) rejects it.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** Creates an element; `options` are attributes, except `text`, `on` {event: handler} and
 *  `class`. */
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

/** Wraps text of the data so that it cannot change the direction of the text around it. */
function dataText(text, options) {
  return make("bdi", { dir: "auto", ...options, text });
}

function find(id) {
  return document.getElementById(id);
}

function replaceChildren(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child || child === ""));
}

// Writing an unchanged text would still cost the browser a style calculation and a layout.

const madeOf = new WeakMap();

/** Rebuilds the children if `key`, which identifies everything they are made of, has changed. */
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

/** Keeps one element per key, in order: existing elements with the same key stay. `known` is the
 *  previous result: [{key, node}]. */
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

/** Tells a screen reader something that is visible on the page anyway. */
function announce(message) {
  const region = find("announcements");
  // An unchanged text would not be read again.
  region.textContent = region.textContent === message ? message + "\u00a0" : message;
}

/** Builds a row of choices that looks like one switch and consists of radio buttons. `choices`:
 *  [{value, label, hint}]. It is only rebuilt when the choices change, so that it keeps the
 *  focus. */
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
              make("input", { type: "radio", name: id, value: choice.value, "aria-label": choice.spoken, disabled: choice.disabled,
                on: { change: () => onChoose(choice.value) } }),
              make("span", { text: choice.label })))));
      }
      for (const input of host.querySelectorAll("input")) input.checked = input.value === String(chosen);
      host.hidden = choices.length === 0;
    },
  };
}

/** Handles arrow keys in a group of which one member can be reached by Tab. */
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

/** Returns the width of a text in the page's font at 13 px. */
function textWidth(text, weight = 400) {
  ruler.font = `${weight} 13px ${themeColor("--font")}`;
  return ruler.measureText(text).width;
}

const calmMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** Returns a function that runs at most once per frame, however often it is called. */
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
