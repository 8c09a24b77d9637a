"""One head of a sentence's attention as a widget in a notebook; needs the package anywidget."""

from typing import Any

from .errors import UsageError

_FRAME = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width: 100%; border: 0";
  frame.style.height = `${model.get("height")}px`;
  const show = () => frame.contentWindow.postMessage({ type: "attn-demo.show", view: model.get("view") }, "*");
  let told = "";  // the view that the page is at, which need not be sent to it
  const receive = ({ source, data }) => {
    if (source !== frame.contentWindow || !data || data.type !== "attn-demo.view") return;
    if (data.height > 0) frame.style.height = `${Math.max(120, Math.min(1600, data.height))}px`;
    const first = told === "";
    told = data.view;
    if (first && model.get("view") !== "") { show(); return; }
    model.set("view", data.view);
    model.save_changes();
  };
  const changed = () => { if (model.get("view") !== told) show(); };
  addEventListener("message", receive);
  model.on("change:view", changed);
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    removeEventListener("message", receive);
    model.off("change:view", changed);
  };
}
export default { render };
"""


def _fields(view: str) -> "dict[str, str]":
    return dict(part.split("=", 1) for part in view.split("&") if "=" in part)


def make_widget(page: str, view: str, height: int) -> Any:
    """Returns an anywidget.AnyWidget that shows `page` in a frame. Its trait `view` is what the page
    shows, as in the page's address ("kind=cross&layer=2&head=1&cell=3.2"); setting it turns the
    page to that view. `head` and `cell` are read from it."""
    try:
        import anywidget  # type: ignore[import-not-found, unused-ignore]
        import traitlets
    except ImportError as missing:
        raise UsageError(f"widget() needs the package anywidget ({missing}); pip install anywidget") from None

    class AttentionWidget(anywidget.AnyWidget):
        _esm = _FRAME
        page = traitlets.Unicode("").tag(sync=True)
        view = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Int(420).tag(sync=True)

        @property
        def head(self) -> "tuple[str, int, int] | None":
            """The selected head: its kind ("encoder", "decoder" or "cross"), layer and number."""
            fields = _fields(self.view)
            if not {"kind", "layer", "head"} <= fields.keys():
                return None
            return (fields["kind"].removesuffix("_self"), int(fields["layer"]), int(fields["head"]))

        @property
        def cell(self) -> "tuple[int, int] | None":
            """The selected cell: its query and key, counted from 0; None if no cell is selected."""
            cell = _fields(self.view).get("cell")
            if cell is None:
                return None
            query, key = cell.split(".")
            return int(query), int(key)

    return AttentionWidget(page=page, view=view, height=height)
