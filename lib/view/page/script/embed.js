// A page in a frame of another page (slides, a course, a notebook): one head and nothing around it.
// `page --embed` writes such a page, and #embed in the address makes any page one. The other page
// and this one exchange messages:
//
//   to the page     {type: "attn-demo.show", view: "kind=cross&layer=1&head=0&lock=row.2"}
//   from the page   {type: "attn-demo.view", view: "sentence=0&kind=cross&layer=1&head=0…", height}
//
// A view is written as in the page's address, and fields that it leaves out stay as they are. The
// page tells its view when it opens and whenever it changes; `height` is that of its content in px.

const embed = (() => {
  let told = "";

  function tell() {
    const view = addressOf().slice(1);
    const height = Math.ceil(find("page").getBoundingClientRect().height);
    const message = { type: "attn-demo.view", view, height };
    if (JSON.stringify(message) === told) return;
    told = JSON.stringify(message);
    parent.postMessage(message, "*");
  }

  function receive(event) {
    if (event.source !== parent || !event.data || event.data.type !== "attn-demo.show") return;
    const view = `#${event.data.view}`;
    change(fieldsOf(view));
    live.go(view);
  }

  function start(page) {
    if (!page.embed && !/[#&]embed\b/.test(location.hash)) return;
    document.body.classList.add("is-embed");
    if (parent === window) return;
    addEventListener("message", receive);
    onChange(oncePerFrame(tell));
    new ResizeObserver(tell).observe(find("page"));
  }

  return { start };
})();
