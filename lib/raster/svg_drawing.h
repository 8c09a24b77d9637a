// An SVG read by librsvg, which can be drawn on a cairo surface.
#pragma once

#include <cairo-pdf.h>
#include <librsvg/rsvg.h>
#include <memory>
#include <string_view>

namespace attn {

inline constexpr double css_pixels_per_inch = 96;  ///< CSS pixels, the unit of an SVG

struct RsvgDeleter {
  void operator()(cairo_surface_t* surface) const;
  void operator()(cairo_t* context) const;
  void operator()(RsvgHandle* handle) const;
};
using Surface = std::unique_ptr<cairo_surface_t, RsvgDeleter>;

class SvgDrawing {
 public:
  /// `format` (PNG, PDF) begins the error messages. Throws InputError if `svg` is not an SVG with a
  /// size of its own, MemoryError if there is not enough memory to draw, and SystemError if librsvg
  /// is not installed.
  SvgDrawing(std::string_view svg, const char* format);

  double width() const { return width_; }  ///< in pixels of the SVG, above 0
  double height() const { return height_; }

  /// Draws at the surface's origin; one pixel of the SVG becomes `scale` units of the surface.
  /// Throws SystemError if there is no font to draw with.
  void draw_on(cairo_surface_t* surface, double scale) const;
  /// Same as draw_on(), on a white background.
  void draw_on_white(cairo_surface_t* surface, double scale) const;

  /// Throws the error for a failed call to cairo.
  void check(cairo_status_t status) const;
  const char* format() const { return format_; }

 private:
  const char* format_;
  std::unique_ptr<RsvgHandle, RsvgDeleter> handle_;
  double width_ = 0;
  double height_ = 0;
};

// librsvg and cairo, loaded when the first picture is drawn.
//
// With ordinary linking, their forty libraries would add 25 ms to every start of the program, which
// is more than a translation by the toy model takes.

/// The functions of librsvg, cairo and GLib that are used here, under their own names.
struct RsvgLibrary {
  decltype(&::rsvg_handle_new_from_data) rsvg_handle_new_from_data;
  decltype(&::rsvg_handle_set_dpi) rsvg_handle_set_dpi;
  decltype(&::rsvg_handle_get_intrinsic_size_in_pixels) rsvg_handle_get_intrinsic_size_in_pixels;
  decltype(&::rsvg_handle_render_document) rsvg_handle_render_document;
  decltype(&::g_object_unref) g_object_unref;
  decltype(&::g_error_free) g_error_free;
  decltype(&::g_log_set_writer_func) g_log_set_writer_func;
  decltype(&::g_log_writer_default) g_log_writer_default;
  decltype(&::cairo_image_surface_create) cairo_image_surface_create;
  decltype(&::cairo_image_surface_get_data) cairo_image_surface_get_data;
  decltype(&::cairo_image_surface_get_stride) cairo_image_surface_get_stride;
  decltype(&::cairo_surface_status) cairo_surface_status;
  decltype(&::cairo_surface_flush) cairo_surface_flush;
  decltype(&::cairo_surface_finish) cairo_surface_finish;
  decltype(&::cairo_pdf_surface_create_for_stream) cairo_pdf_surface_create_for_stream;
  decltype(&::cairo_pdf_surface_set_metadata) cairo_pdf_surface_set_metadata;
  decltype(&::cairo_surface_destroy) cairo_surface_destroy;
  decltype(&::cairo_create) cairo_create;
  decltype(&::cairo_destroy) cairo_destroy;
  decltype(&::cairo_set_source_rgb) cairo_set_source_rgb;
  decltype(&::cairo_paint) cairo_paint;
  decltype(&::cairo_scale) cairo_scale;
  decltype(&::cairo_status) cairo_status;
  decltype(&::cairo_status_to_string) cairo_status_to_string;
};

/// Loads the libraries once per process. Throws SystemError if librsvg is missing. From then on
/// Pango's warnings are kept for font_warning() instead of printed.
const RsvgLibrary& rsvg_library();

/// Returns Pango's first warning, or "" if there was none. If Pango cannot use a font it draws
/// boxes, and librsvg reports success.
std::string_view font_warning();

}  // namespace attn
