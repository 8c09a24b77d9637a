#include "raster/rsvg_library.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <type_traits>

#include "base/error.h"

namespace attn {
namespace {

// The major version is part of the name: what was compiled against is what is loaded.
constexpr const char* library_name = "librsvg-2.so.2";

constexpr std::size_t longest_complaint = 300;
/// Of fixed size: it is C code that calls, maybe where memory is short.
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
  // Without a thread or memory GLib aborts after such a message; whoever has an exit handler
  // chooses better.
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
  // A look-up through librsvg finds the libraries that it needs itself, too: cairo and GLib.
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
