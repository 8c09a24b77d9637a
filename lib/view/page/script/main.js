// The page starts here: it reads the data and makes every view follow the state.

const FIRST = [controls, trainer, trainingView, compareView, whyView, overview, stage, liveView];
const BELOW = new Map([["beside", approximationView], ["next", nextWordView], ["way", residualStreamView], ["field", receptiveFieldView], ["steps", stepsView],
  ["tree", treeView], ["report", reportView]]);  // the maps, further down
const AFTER_FRAME = 20;  // ms: by then the frame is on the screen
const PIECE = 8;  // ms of work per piece
const inSight = new Set();  // ids of the lower views that are in sight
let rest = [];  // work left after a frame
let turn = 0;  // number of the current update

/** Marks the page while parts of it still show the previous state. */
function markDue() {
  find("page").toggleAttribute("data-due", rest.length > 0);
}

/** Does the rest of an update in pieces, so that a keystroke does not have to wait for all of
 *  it. */
function updateRest(mine) {
  if (mine !== turn) return;
  const begun = performance.now();
  while (rest.length > 0 && performance.now() - begun < PIECE) rest.shift()();
  markDue();
  if (rest.length > 0) setTimeout(updateRest, 0, mine);
}

/** Updates every view. While the reader types, views in sight come first, and the others after
 *  these are on the screen. */
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

/** Makes links within the page scroll without changing the address, which holds the view. */
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
  embed.start(page);
  find("reading").open = !matchMedia("(max-width: 999px)").matches;
  find("page").hidden = false;
  if (page.words) firstUnit = "words";
  change({ ...firstView(), unit: firstUnit, ...fieldsOf(location.hash) });
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
