#include "raster/svg_export.h"

#include <png.h>
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <exception>
#include <new>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "raster/svg_drawing.h"

namespace attn {
namespace {

constexpr std::uint64_t bytes_per_pixel = 8;  // for the picture and its PNG

constexpr double inches_per_metre = 1 / 0.0254;
constexpr int compression = 5;  // as small as the default level for such flat pictures, and faster

struct PictureSize {
  int columns = 0;
  int rows = 0;
};

/// Checks the size in floating point, which cannot overflow, before converting it to int.
PictureSize size_of(const SvgDrawing& drawing, double scale) {
  const double width = drawing.width();
  const double height = drawing.height();
  // The small tolerance makes 100 pixels times 1.1 give 110, not 111.
  const double columns = std::ceil(width * scale - 1e-6);
  const double rows = std::ceil(height * scale - 1e-6);
  if (columns > max_png_side || rows > max_png_side ||
      columns * rows > static_cast<double>(max_png_pixels)) {
    const double fitting = std::min(
        {max_png_side / width, max_png_side / height, std::sqrt(max_png_pixels / width / height)});
    throw InputError(
        "PNG: {:.0f} × {:.0f} pixels; expected at most {} a side and {} million in "
        "all; try a scale of {:.2f} or less, one head alone, or SVG",
        columns, rows, max_png_side, max_png_pixels / 1000000, std::floor(fitting * 100) / 100);
  }
  return {std::max(1, static_cast<int>(columns)), std::max(1, static_cast<int>(rows))};
}

Surface drawn(const SvgDrawing& drawing, const PictureSize& size, double scale) {
  Surface surface(
      rsvg_library().cairo_image_surface_create(CAIRO_FORMAT_RGB24, size.columns, size.rows));
  drawing.draw_on_white(surface.get(), scale);
  rsvg_library().cairo_surface_flush(surface.get());
  return surface;
}

/// Writes a PNG into a string. libpng reports errors by longjmp, so nothing here may have a
/// destructor that a jump would skip.
class PngWriter {
 public:
  explicit PngWriter(std::string& out)
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, ignore_warning)) {
    if (png_ == nullptr) throw std::bad_alloc();
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png_, &out, append, nullptr);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  /// Writes rows of cairo's RGB24: one 32-bit word per pixel, in native byte order. Returns false
  /// if libpng failed.
  bool write(cairo_surface_t* surface, const PictureSize& size, double scale,
             std::vector<png_byte>& row) {
    const int width = size.columns;
    const int height = size.rows;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_IHDR(png_, info_, narrow_cast<png_uint_32>(width), narrow_cast<png_uint_32>(height), 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    const auto resolution =
        narrow_cast<png_uint_32>(std::lround(css_pixels_per_inch * scale * inches_per_metre));
    png_set_pHYs(png_, info_, resolution, resolution, PNG_RESOLUTION_METER);
    png_set_sRGB(png_, info_, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png_, compression);
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);  // best for flat colors
    png_write_info(png_, info_);
    const unsigned char* data = rsvg_library().cairo_image_surface_get_data(surface);
    const std::ptrdiff_t stride = rsvg_library().cairo_image_surface_get_stride(surface);
    for (int y = 0; y < height; ++y) {
      const auto* pixels = reinterpret_cast<const std::uint32_t*>(data + y * stride);
      for (std::size_t x = 0; x < to_size(width); ++x) {
        row[3 * x] = narrow_cast<png_byte>(pixels[x] >> 16 & 0xff);
        row[3 * x + 1] = narrow_cast<png_byte>(pixels[x] >> 8 & 0xff);
        row[3 * x + 2] = narrow_cast<png_byte>(pixels[x] & 0xff);
      }
      png_write_row(png_, row.data());
    }
    png_write_end(png_, info_);
    return true;
  }

 private:
  static void append(png_structp png, png_bytep bytes, std::size_t count) {
    try {
      static_cast<std::string*>(png_get_io_ptr(png))
          ->append(reinterpret_cast<const char*>(bytes), count);
      return;
    } catch (const std::exception&) {  // an exception must not pass through C code
    }
    png_error(png, "no memory");
  }
  static void ignore_warning(png_structp, png_const_charp) {}

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

void check_png_scale(double scale) {
  if (scale >= min_png_scale && scale <= max_png_scale) return;
  throw UsageError("PNG: the scale is {}; expected {} to {}, as in 2", scale, min_png_scale,
                   max_png_scale);
}

std::string svg_to_png(std::string_view svg, double scale) {
  check_png_scale(scale);
  const SvgDrawing drawing(svg, "PNG");
  const PictureSize size = size_of(drawing, scale);
  require_memory(bytes_per_pixel * to_size(size.columns) * to_size(size.rows), "PNG: the picture");
  const Surface surface = drawn(drawing, size, scale);
  std::vector<png_byte> row(3 * to_size(size.columns));
  std::string png;
  PngWriter writer(png);
  if (!writer.write(surface.get(), size, scale, row)) {
    throw MemoryError("PNG: the file does not fit in memory");
  }
  return png;
}

namespace {

constexpr double points_per_pixel = 72 / css_pixels_per_inch;
// cairo's default would be the current time.
constexpr const char* fixed_date = "2000-01-01T00:00:00Z";

/// Called by cairo, which is C code, so no exception may leave it.
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
