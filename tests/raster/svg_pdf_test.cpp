#include "raster/svg_export.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <chrono>
#include <thread>

#include "base/at.h"
#include "check_error.h"
#include "view/sample_record.h"
#include "view/svg/map/attention_svg.h"

namespace attn {
namespace {

using namespace test;

std::string svg_of(const std::string& width, const std::string& height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\"><rect width=\"4\" height=\"4\" fill=\"#0000ff\"/></svg>";
}

/// Returns the file with its streams decompressed, because objects may be inside streams.
std::string unpacked(const std::string& pdf) {
  std::string text = pdf;
  for (std::size_t at = 0; (at = pdf.find("stream\n", at)) != std::string::npos;) {
    at += 7;
    std::string out(std::size_t{1} << 22, '\0');
    uLongf size = out.size();
    const auto* packed = reinterpret_cast<const Bytef*>(pdf.data() + at);
    if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size, packed, pdf.size() - at) == Z_OK) {
      text.append(out, 0, size);
    }
  }
  return text;
}

TEST_CASE("pdf: one page of the picture's size, in vectors, with its letters and no picture") {
  const std::string pdf = svg_to_pdf(attention_svg(demo_record()));
  CHECK(pdf.starts_with("%PDF-1."));
  CHECK(pdf.find("%%EOF") != std::string::npos);
  const std::string text = unpacked(pdf);
  CHECK(text.find("/FontFile") != std::string::npos);
  CHECK(text.find("/Subtype /Image") == std::string::npos);
  CHECK(text.find("DejaVu") != std::string::npos);
  CHECK(unpacked(svg_to_pdf(svg_of("100", "40"))).find("/MediaBox [ 0 0 75 30 ]") !=
        std::string::npos);
}

TEST_CASE("pdf: the same SVG gives the same bytes, a second later, too") {
  const std::string svg = attention_svg(demo_record());
  const std::string pdf = svg_to_pdf(svg);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(svg_to_pdf(svg) == pdf);
  const std::string text = unpacked(pdf);
  const std::size_t date = text.find("/CreationDate (");
  REQUIRE(date != std::string::npos);
  CHECK(text.substr(date, 40).find("20000101000000Z") !=
        std::string::npos);  // not the current year
}

TEST_CASE("pdf: what is no SVG, or too large, is refused") {
  check_error([] { svg_to_pdf("<svg"); }, ExitCode::input, "PDF: the SVG cannot be read: ");
  check_error([] { svg_to_pdf(svg_of("0", "10")); }, ExitCode::input,
              "PDF: the SVG has no width and height in pixels; expected both on its root");
  check_error([] { svg_to_pdf(svg_of("19201", "10")); }, ExitCode::input,
              "PDF: 14401 × 8 points; expected at most 14400 a side; try one head alone, or SVG");
  CHECK(svg_to_pdf(svg_of("19200", "10")).starts_with("%PDF"));
}

}  // namespace
}  // namespace attn
