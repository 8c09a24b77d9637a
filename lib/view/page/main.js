// The page begins here: it reads the data, and every view follows the state.

function updateAll() {
  document.documentElement.dataset.theme = printing ? "light" : state.theme;
  controls.update();
  trainingView.update();
  compareView.update();
  overview.update();
  stage.update();
  nextView.update();
  wayView.update();
  fieldView.update();
  stepsView.update();
  treeView.update();
  reportView.update();
  liveView.update();
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
  for (const view of [controls, trainingView, compareView, overview, stage, nextView, wayView, fieldView, stepsView, treeView, reportView,
      liveView, keyboard]) view.start();
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
