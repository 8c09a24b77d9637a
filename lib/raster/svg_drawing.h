// An SVG as librsvg has read it, to be drawn on a surface of cairo's.
#pragma once

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

}  // namespace attn
