// Tests fonts that fontconfig lists but that cannot be read. Pango would draw boxes, and librsvg
// would report success.
#ifndef ATTN_ASAN  // ASan reports the font library's leaks on stderr
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "bad_input.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

const fs::path kFonts = "/usr/share/fonts/truetype/dejavu";

/// Returns the config of a system with only those fonts, with fontconfig's cache in {dir}.
std::string font_config(const TemporaryDirectory& scene) {
  fs::create_directory(scene.file("fonts"));
  for (const char* name : {"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"}) {
    fs::copy_file(kFonts / name, fs::path(scene.file("fonts")) / name);
  }
  std::ofstream(scene.file("fonts.conf"))
      << "<?xml version=\"1.0\"?><fontconfig><dir>" << scene.file("fonts") << "</dir><cachedir>"
      << scene.file("cache") << "</cachedir></fontconfig>";
  return scene.file("fonts.conf");
}

}  // namespace

TEST_CASE("a picture without its font is refused, and an old one stays") {
  if (!fs::exists(kFonts / "DejaVuSans.ttf")) {
    MESSAGE("no fonts to break here");
    return;
  }
  const TemporaryDirectory scene;
  const std::string picture = scene.file("p.png");
  const Request draw{.args = {"translate", "--max-length", "3", "Hi", "--png", picture},
                     .environment = {{"FONTCONFIG_FILE", font_config(scene)}}};
  const Result whole = run_program(draw);
  REQUIRE(whole.code == kDone);
  CHECK(whole.err.starts_with("note: wrote " + picture + " ("));
  CHECK(lines_of(whole.err).size() == 1);
  const std::string before = bytes_of(picture);
  // The fonts are overwritten in place: the folder's time does not change, so fontconfig trusts
  // its cache.
  for (const auto& font : fs::directory_iterator(scene.file("fonts"))) {
    std::ofstream(font.path()) << "broken";
  }
  const Result broken = run_program(draw);
  CHECK(broken.code == kSystem);
  REQUIRE(lines_of(broken.err).size() == 1);
  CHECK(broken.err.find("PNG: the font cannot be used: ") != std::string::npos);
  CHECK(is_plain(broken.err));
  CHECK(bytes_of(picture) == before);
}

}  // namespace attn::test
#endif
