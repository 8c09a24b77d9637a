#include "raster/rsvg_library.h"

#include <dlfcn.h>

#include "base/error.h"

namespace attn {
namespace {

// The major version is part of the name: what was compiled against is what is loaded.
constexpr const char* library_name = "librsvg-2.so.2";

RsvgLibrary load() {
  void* handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw SystemError("PNG: {} cannot be loaded ({}); install the package librsvg2-2, or write SVG",
                      library_name, dlerror());
  }
  RsvgLibrary library{};
  // A look-up through librsvg finds the libraries that it needs itself, too: cairo and GLib.
  const auto find = [handle](auto& function, const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) {
      throw SystemError("PNG: {} has no {}; expected librsvg 2.52 or later", library_name, name);
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
  ATTN_FIND(cairo_image_surface_create);
  ATTN_FIND(cairo_image_surface_get_data);
  ATTN_FIND(cairo_image_surface_get_stride);
  ATTN_FIND(cairo_surface_status);
  ATTN_FIND(cairo_surface_flush);
  ATTN_FIND(cairo_surface_destroy);
  ATTN_FIND(cairo_create);
  ATTN_FIND(cairo_destroy);
  ATTN_FIND(cairo_set_source_rgb);
  ATTN_FIND(cairo_paint);
  ATTN_FIND(cairo_scale);
  ATTN_FIND(cairo_status);
  ATTN_FIND(cairo_status_to_string);
#undef ATTN_FIND
  return library;
}

}  // namespace

const RsvgLibrary& rsvg_library() {
  static const RsvgLibrary library = load();
  return library;
}

}  // namespace attn
