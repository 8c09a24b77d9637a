// The moments of a training run: a slider below the curve, and playback.

const trainingView = (() => {
  const PAUSE = 800;  // ms per moment at speed 1
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

  function wait() {
    timer = setTimeout(next, PAUSE / Number(find("training-speed").value));
  }

  function next() {
    if (state.moment + 1 >= moments().length) {
      stop();
      return;
    }
    change({ moment: state.moment + 1 });
    wait();
  }

  /** Plays from the current moment, or from the beginning if it is the last. */
  function play() {
    if (trainer.pause() || moments().length < 2) return;
    if (isPlaying()) {
      stop();
      return;
    }
    if (state.moment + 1 >= moments().length) change({ moment: 0 });
    wait();
    showButton();
  }

  function jump(moment) {
    trainer.pause();
    if (isPlaying()) stop();
    change({ moment });
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
    const given = scene.record.decoding && scene.record.decoding.given;
    const { own } = scene.record;
    replaceChildren(find("training-text"), make("span", { class: "quiet", text: given ? "reads the given translation " : "writes " }),
      dataText(printable(scene.hypothesis ? scene.hypothesis.text : "") || "(nothing)", { class: "strong" }));
    const updates = moments().map(({ model }) => model.update);
    const even = updates.every((at, i) => i < 2 || at - updates[i - 1] === updates[1] - updates[0]);
    find("training-axis").hidden = even;
    curveView.update(moments());
  }

  function start() {
    find("training-slider").addEventListener("input", (event) => jump(Number(event.target.value)));
    find("training-play").addEventListener("click", play);
    curveView.start(jump);
    showButton();
  }

  return { start, update, play };
})();
