#include "raster/svg_pdf.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "raster/rsvg_library.h"
#include "raster/svg_drawing.h"

namespace attn {
namespace {

constexpr double points_per_pixel = 72 / css_pixels_per_inch;
// cairo's own would be the time of day.
constexpr const char* fixed_date = "2000-01-01T00:00:00Z";

/// Called by cairo, which is C code: an exception must not pass through it.
cairo_status_t append(void* out, const unsigned char* bytes, unsigned int count) {
  try {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

}  // namespace

std::string svg_to_pdf(std::string_view svg) {
  const SvgDrawing drawing(svg, "PDF");
  const double width = drawing.width() * points_per_pixel;
  const double height = drawing.height() * points_per_pixel;
  if (std::max(width, height) > max_pdf_side) {
    throw InputError(
        "PDF: {:.0f} × {:.0f} points; expected at most {:.0f} a side; try one head alone, or SVG",
        width, height, max_pdf_side);
  }
  const RsvgLibrary& library = rsvg_library();
  std::string pdf;
  const Surface surface(library.cairo_pdf_surface_create_for_stream(append, &pdf, width, height));
  drawing.check(library.cairo_surface_status(surface.get()));
  library.cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, fixed_date);
  drawing.draw_on(surface.get(), points_per_pixel);
  library.cairo_surface_finish(surface.get());
  drawing.check(library.cairo_surface_status(surface.get()));
  return pdf;
}

}  // namespace attn
