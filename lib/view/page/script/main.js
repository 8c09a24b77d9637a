// The page begins here: it reads the data, and every view follows the state.

const FIRST = [controls, trainer, trainingView, compareView, overview, stage, liveView];
const BELOW = new Map([["beside", approximationView], ["next", nextWordView], ["way", residualStreamView], ["field", receptiveFieldView], ["steps", stepsView],
  ["tree", treeView], ["report", reportView]]);  // the maps, further down
const AFTER_FRAME = 20;  // ms: the frame is on the screen by then
const PIECE = 8;         // ms of what is done at a time
const inSight = new Set();  // of those below, by their ids
let rest = [];              // what is still to be done after a frame
let turn = 0;               // of updates

/** Says in the page whether a part of it still shows what was there before. */
function markDue() {
  find("page").toggleAttribute("data-due", rest.length > 0);
}

/** Does the rest of an update piece by piece, so that a key need not wait for all of it. */
function updateRest(mine) {
  if (mine !== turn) return;
  const begun = performance.now();
  while (rest.length > 0 && performance.now() - begun < PIECE) rest.shift()();
  markDue();
  if (rest.length > 0) setTimeout(updateRest, 0, mine);
}

/** Every view at once; while someone types, first what is in sight, and the rest once that is on the screen. */
function updateAll() {
  document.documentElement.dataset.theme = printing ? "light" : state.theme;
  for (const view of FIRST) view.update();
  const hurry = live.hurries() || trainer.hurries();
  const mine = ++turn;
  rest = hurry ? [controls.finish, stage.finish] : [];
  for (const [id, view] of BELOW) {
    if (hurry && !inSight.has(id)) rest.push(view.update);
    else view.update();
  }
  markDue();
  if (hurry) requestAnimationFrame(() => setTimeout(updateRest, AFTER_FRAME, mine));
}

function watchSight() {
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inSight.add(target.id);
      else inSight.delete(target.id);
    }
  });
  for (const id of BELOW.keys()) watcher.observe(find(id));
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
  loadPage(page);
  if (sentences.length === 0) {
    find("failure").textContent = "This page holds no sentence.";
    find("failure").hidden = false;
    return;
  }
  live.start(page.live, location.hash);
  for (const view of [...FIRST, ...BELOW.values(), keyboard]) view.start();
  watchSight();
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
