// An SVG as librsvg has read it, to be drawn on a surface of cairo's.
#pragma once

#include <cairo-pdf.h>
#include <librsvg/rsvg.h>
#include <memory>
#include <string_view>

namespace attn {

inline constexpr double css_pixels_per_inch = 96;  ///< of a CSS pixel, which an SVG counts in

struct RsvgDeleter {
  void operator()(cairo_surface_t* surface) const;
  void operator()(cairo_t* context) const;
  void operator()(RsvgHandle* handle) const;
};
using Surface = std::unique_ptr<cairo_surface_t, RsvgDeleter>;

class SvgDrawing {
 public:
  /// `format` (PNG, PDF) begins the messages. InputError where `svg` is no SVG with a size of its
  /// own; MemoryError where there is no room to draw; SystemError where librsvg is not installed.
  SvgDrawing(std::string_view svg, const char* format);

  double width() const { return width_; }  ///< in the SVG's own pixels, above 0
  double height() const { return height_; }

  /// Draws at the surface's origin, `scale` of its units for each pixel of the SVG. SystemError
  /// where there is no font to draw with.
  void draw_on(cairo_surface_t* surface, double scale) const;
  /// As draw_on, on white.
  void draw_on_white(cairo_surface_t* surface, double scale) const;

  /// Throws what a failed call to cairo means.
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
// Linked as usual, their forty libraries would add 25 ms to every start of the program, which is
// more than a translation by the toy takes.

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

/// Loads it once for the process; SystemError where the library is missing. From then on what
/// Pango warns of is kept for font_warning() instead of printed.
const RsvgLibrary& rsvg_library();

/// What Pango has first warned of, empty for nothing. It draws boxes where it cannot use a font,
/// and librsvg calls that drawn.
std::string_view font_warning();

}  // namespace attn
