#include "raster/svg_drawing.h"

#include <dlfcn.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Memory that librsvg and its libraries need themselves. They end the process if an allocation
/// fails, so the memory is checked before.
constexpr std::uint64_t library_bytes = std::uint64_t{192} << 20;

using Context = std::unique_ptr<cairo_t, RsvgDeleter>;

const RsvgLibrary& rsvg() {
  return rsvg_library();
}

/// Returns the message of a GError on one line and frees the error.
std::string message_of(GError* error) {
  std::string message = error != nullptr ? error->message : "unknown reason";
  if (error != nullptr) rsvg().g_error_free(error);
  while (message.ends_with('\n')) message.pop_back();
  return printable(message);
}

void draw(const SvgDrawing& drawing, RsvgHandle* handle, cairo_t* context, double scale) {
  // The context is scaled, and the viewport has the picture's own size: a viewport of whole pixels
  // would change the aspect ratio and shift everything by a fraction of a pixel.
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

namespace {

// The name includes the major version, so the loaded library matches the headers.
constexpr const char* library_name = "librsvg-2.so.2";

constexpr std::size_t longest_complaint = 300;
/// Has a fixed size, because C code calls the function that fills it, possibly when memory is
/// short.
std::array<char, longest_complaint + 1> first_complaint{};

std::string_view text_of(const GLogField& field) {
  const char* text = static_cast<const char*>(field.value);
  return field.length < 0 ? std::string_view(text)
                          : std::string_view(text, static_cast<std::size_t>(field.length));
}

/// Called by GLib for every message of its libraries.
GLogWriterOutput listen(GLogLevelFlags level, const GLogField* fields, gsize count,
                        gpointer /*data*/) {
  std::string_view domain, message;
  for (gsize i = 0; i < count; ++i) {
    if (std::string_view(fields[i].key) == "GLIB_DOMAIN") domain = text_of(fields[i]);
    if (std::string_view(fields[i].key) == "MESSAGE") message = text_of(fields[i]);
  }
  // After such a message GLib aborts, because it got no thread or memory. Exiting instead lets the
  // program's exit handlers run.
  if ((level & G_LOG_LEVEL_ERROR) != 0) std::exit(EXIT_FAILURE);
  if (domain != "Pango" || (level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL)) == 0) {
    return rsvg_library().g_log_writer_default(level, fields, count, nullptr);
  }
  if (first_complaint[0] == '\0') message.copy(first_complaint.data(), longest_complaint);
  return G_LOG_WRITER_HANDLED;
}

RsvgLibrary load() {
  void* handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw SystemError("{} cannot be loaded ({}); install the package librsvg2-2, or write SVG",
                      library_name, dlerror());
  }
  RsvgLibrary library{};
  // Symbols are looked up through librsvg, which also finds those of its dependencies, cairo and
  // GLib.
  const auto find = [handle](auto& function, const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) {
      throw SystemError("{} has no {}; expected librsvg 2.52 or later", library_name, name);
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
#define ATTN_FIND(name) find(library.name, #name)
  ATTN_FIND(rsvg_handle_new_from_data);
  ATTN_FIND(rsvg_handle_set_dpi);
  ATTN_FIND(rsvg_handle_get_intrinsic_size_in_pixels);
  ATTN_FIND(rsvg_handle_render_document);
  ATTN_FIND(g_object_unref);
  ATTN_FIND(g_error_free);
  ATTN_FIND(g_log_set_writer_func);
  ATTN_FIND(g_log_writer_default);
  ATTN_FIND(cairo_image_surface_create);
  ATTN_FIND(cairo_image_surface_get_data);
  ATTN_FIND(cairo_image_surface_get_stride);
  ATTN_FIND(cairo_surface_status);
  ATTN_FIND(cairo_surface_flush);
  ATTN_FIND(cairo_surface_finish);
  ATTN_FIND(cairo_pdf_surface_create_for_stream);
  ATTN_FIND(cairo_pdf_surface_set_metadata);
  ATTN_FIND(cairo_surface_destroy);
  ATTN_FIND(cairo_create);
  ATTN_FIND(cairo_destroy);
  ATTN_FIND(cairo_set_source_rgb);
  ATTN_FIND(cairo_paint);
  ATTN_FIND(cairo_scale);
  ATTN_FIND(cairo_status);
  ATTN_FIND(cairo_status_to_string);
#undef ATTN_FIND
  library.g_log_set_writer_func(listen, nullptr, nullptr);
  return library;
}

}  // namespace

const RsvgLibrary& rsvg_library() {
  static const RsvgLibrary library = load();
  return library;
}

std::string_view font_warning() {
  return first_complaint.data();
}

}  // namespace attn
