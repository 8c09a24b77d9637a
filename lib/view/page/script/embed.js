// A page in a frame of another page (slides, a course, a notebook): one head and nothing around it.
// `page --embed` writes such a page, and #embed in the address makes any page one. The other page
// and this one exchange messages:
//
//   to the page     {type: "attn-demo.show", view: "kind=cross&layer=1&head=0&lock=row.2"}
//   from the page   {type: "attn-demo.view", view: "sentence=0&kind=cross&layer=1&head=0…", height}
//                   {type: "attn-demo.error", error: "no kind “x”: encoder, decoder, …"}
//
// A view is written as in the page's address, and fields that it leaves out stay as they are. The
// page tells its view when it opens and whenever it changes; `height` is that of its content in px.

const embed = (() => {
  let told = "";
  let on = false;

  /** Returns the height in px that the map can take in a frame; null for a page that is in none. */
  const room = () => (on ? Math.max(60, document.querySelector(".heat-box").clientHeight - 6) : null);

  /** Returns the height in px of a frame in which the map has its usual size. */
  function usualHeight() {
    const [views, heat] = [find("stage-views"), find("heat")];
    if (views.hidden) return Math.ceil(innerHeight);
    const [has, wants] = heat.hidden ? [views.clientHeight, find("lines").offsetHeight + 2] : [room(), heatMap.usualHeight()];
    return Math.ceil(innerHeight - has + wants);
  }

  function tell() {
    const view = addressOf().slice(1);
    const height = usualHeight();
    const message = { type: "attn-demo.view", view, height };
    if (JSON.stringify(message) === told) return;
    told = JSON.stringify(message);
    parent.postMessage(message, "*");
  }

  function receive(event) {
    if (event.source !== parent || !event.data || event.data.type !== "attn-demo.show") return;
    const view = `#${event.data.view}`;
    const problems = problemsOf(view);
    if (problems.length > 0) parent.postMessage({ type: "attn-demo.error", error: problems.join("; ") }, "*");
    change(fieldsOf(view));
    live.go(view);
  }

  function start(page) {
    if (!page.embed && !/[#&]embed\b/.test(location.hash)) return;
    on = true;
    document.body.classList.add("is-embed");
    if (parent === window) return;
    addEventListener("message", receive);
    onChange(oncePerFrame(tell));
    new ResizeObserver(tell).observe(find("page"));
  }

  return { start, room, isOn: () => on };
})();
