// The page begins here: it reads the data, and every view follows the state.

const FIRST = [controls, trainingView, compareView, overview, stage, liveView];
const BELOW = [nextView, wayView, fieldView, stepsView, treeView, reportView];  // the maps, further down
const AFTER_FRAME = 20;  // ms: the frame is on the screen by then
let waits = false;

function updateBelow() {
  waits = false;
  for (const view of BELOW) view.update();
}

/** Every view at once; while someone types, the maps first, and what stands below them once they are seen. */
function updateAll() {
  document.documentElement.dataset.theme = printing ? "light" : state.theme;
  for (const view of FIRST) view.update();
  if (!live.hurries()) {
    updateBelow();
  } else if (!waits) {
    waits = true;
    requestAnimationFrame(() => setTimeout(() => { if (waits) updateBelow(); }, AFTER_FRAME));
  }
}

function setPrinting(on) {
  if (printing === on || !scene) return;
  printing = on;
  document.documentElement.dataset.theme = on ? "light" : state.theme;
  overview.update();
  stage.redraw();
}

/** Links within the page move there without touching the address, which holds the view. */
function followJumps() {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = find(link.getAttribute("href").slice(1));
      target.scrollIntoView({ block: "start", behavior: calmMotion.matches ? "auto" : "smooth" });
      target.focus({ preventScroll: true });
    });
  }
}

function beginPage() {
  const page = JSON.parse(find("attn-data").textContent);
  takePage(page);
  if (sentences.length === 0) {
    find("failure").textContent = "This page holds no sentence.";
    find("failure").hidden = false;
    return;
  }
  live.start(page.live, location.hash);
  for (const view of [...FIRST, ...BELOW, keyboard]) view.start();
  followJumps();
  onChange(updateAll);
  find("page").hidden = false;
  change({ ...firstView(), ...fieldsOf(location.hash) });
  addEventListener("hashchange", () => {
    if (location.hash === addressOf()) return;
    change(fieldsOf(location.hash));
    live.go();
  });
  systemDark.addEventListener("change", updateAll);
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
  matchMedia("print").addEventListener("change", (event) => setPrinting(event.matches));
}

try {
  beginPage();
} catch (problem) {
  find("failure").textContent = `This page cannot show its data: ${problem.message}`;
  find("failure").hidden = false;
  throw problem;
}
