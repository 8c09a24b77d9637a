#include "raster/svg_drawing.h"

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "raster/rsvg_library.h"

namespace attn {
namespace {

/// What librsvg and its libraries take for themselves. They end the process where memory runs out:
/// it is asked before.
constexpr std::uint64_t library_bytes = std::uint64_t{192} << 20;

using Context = std::unique_ptr<cairo_t, RsvgDeleter>;

const RsvgLibrary& rsvg() {
  return rsvg_library();
}

/// The message of a GError, on one line; the error is freed.
std::string message_of(GError* error) {
  std::string message = error != nullptr ? error->message : "unknown reason";
  if (error != nullptr) rsvg().g_error_free(error);
  while (message.ends_with('\n')) message.pop_back();
  return printable(message);
}

void draw(const SvgDrawing& drawing, RsvgHandle* handle, cairo_t* context, double scale) {
  // The context scales, and the picture has its own size: whole pixels alone could not keep the
  // relation of width to height, and everything would move by a fraction.
  rsvg().cairo_scale(context, scale, scale);
  const RsvgRectangle viewport{0, 0, drawing.width(), drawing.height()};
  GError* error = nullptr;
  if (!rsvg().rsvg_handle_render_document(handle, context, &viewport, &error)) {
    throw InputError("{}: the SVG cannot be drawn: {}", drawing.format(), message_of(error));
  }
  drawing.check(rsvg().cairo_status(context));
  if (const std::string_view complaint = font_warning(); !complaint.empty()) {
    throw SystemError("{}: the font cannot be used: {}; install fonts-dejavu-core, or write SVG",
                      drawing.format(), printable(complaint));
  }
}

}  // namespace

void RsvgDeleter::operator()(cairo_surface_t* surface) const {
  rsvg().cairo_surface_destroy(surface);
}
void RsvgDeleter::operator()(cairo_t* context) const {
  rsvg().cairo_destroy(context);
}
void RsvgDeleter::operator()(RsvgHandle* handle) const {
  rsvg().g_object_unref(handle);
}

SvgDrawing::SvgDrawing(std::string_view svg, const char* format) : format_(format) {
  require_memory(library_bytes, std::string(format) + ": librsvg");
  GError* error = nullptr;
  handle_.reset(rsvg().rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()),
                                                 svg.size(), &error));
  if (!handle_) {
    throw InputError("{}: the SVG cannot be read: {}; expected a complete SVG file", format,
                     message_of(error));
  }
  rsvg().rsvg_handle_set_dpi(handle_.get(), css_pixels_per_inch);
  if (!rsvg().rsvg_handle_get_intrinsic_size_in_pixels(handle_.get(), &width_, &height_) ||
      !(width_ > 0) || !(height_ > 0)) {
    throw InputError("{}: the SVG has no width and height in pixels; expected both on its root",
                     format);
  }
}

void SvgDrawing::check(cairo_status_t status) const {
  if (status == CAIRO_STATUS_SUCCESS) return;
  if (status == CAIRO_STATUS_NO_MEMORY) {
    throw MemoryError("{}: the picture does not fit in memory", format_);
  }
  throw InputError("{}: drawing failed: {}", format_, rsvg().cairo_status_to_string(status));
}

void SvgDrawing::draw_on(cairo_surface_t* surface, double scale) const {
  check(rsvg().cairo_surface_status(surface));
  const Context context(rsvg().cairo_create(surface));
  draw(*this, handle_.get(), context.get(), scale);
}

void SvgDrawing::draw_on_white(cairo_surface_t* surface, double scale) const {
  check(rsvg().cairo_surface_status(surface));
  const Context context(rsvg().cairo_create(surface));
  rsvg().cairo_set_source_rgb(context.get(), 1, 1, 1);
  rsvg().cairo_paint(context.get());
  draw(*this, handle_.get(), context.get(), scale);
}

}  // namespace attn
