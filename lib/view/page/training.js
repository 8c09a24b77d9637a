// The slider over the moments of a training run, and its play button.

const trainingView = (() => {
  const PAUSE = 800;  // ms a moment while it plays
  let timer = 0;

  function moments() {
    return sentences[state.sentence].moments;
  }

  function isPlaying() {
    return timer !== 0;
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    showButton();
  }

  function next() {
    if (state.moment + 1 >= moments().length) {
      stop();
      return;
    }
    change({ moment: state.moment + 1 });
    timer = setTimeout(next, PAUSE);
  }

  function play() {
    if (isPlaying()) {
      stop();
      return;
    }
    if (state.moment + 1 >= moments().length) change({ moment: 0 });
    timer = setTimeout(next, PAUSE);
    showButton();
  }

  function showButton() {
    const button = find("training-play");
    button.textContent = isPlaying() ? "❚❚" : "▶";
    button.setAttribute("aria-label", isPlaying() ? "pause" : "play the training");
  }

  function momentText() {
    const update = moments()[state.moment].model.update;
    return `update ${update === undefined ? "?" : thousands(update)}`;
  }

  function update() {
    const count = moments().length;
    find("training").hidden = count < 2;
    if (count < 2) {
      if (isPlaying()) stop();
      return;
    }
    const slider = find("training-slider");
    slider.max = String(count - 1);
    slider.value = String(state.moment);
    slider.setAttribute("aria-valuetext", `${momentText()}, ${state.moment + 1} of ${count}`);
    slider.style.setProperty("--part", String(state.moment / (count - 1)));
    replaceChildren(find("training-says"), make("span", { class: "strong number", text: momentText() }),
      make("span", { class: "quiet", text: ` · ${state.moment + 1} of ${count}` }));
  }

  function start() {
    find("training-slider").addEventListener("input", (event) => {
      if (isPlaying()) stop();
      change({ moment: Number(event.target.value) });
    });
    find("training-play").addEventListener("click", play);
    showButton();
  }

  return { start, update };
})();
