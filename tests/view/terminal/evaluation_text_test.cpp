#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/sample_report.h"
#include "view/terminal/evaluation_text.h"

namespace attn {
namespace {

using test::gold_report;
using test::sample_report;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns the line that begins with a head's name.
std::string line_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(name + " ")) return line;
  }
  FAIL("no line ", name, " in\n", text);
  return {};
}

TEST_CASE("report as text: a line a head with its own figures, the best ones marked") {
  const std::string text = render_head_report(sample_report());
  CHECK(text.starts_with("heads of sample over 3 sentences\n"));
  // The numbers of each site begin at 0.11, with five metrics per head and six in cross-attention.
  CHECK(line_of(text, "encoder:0:0") == "encoder:0:0     0.11      0.12      0.13  0.14   0.15");
  CHECK(line_of(text, "decoder:1:1") == "decoder:1:1     0.26      0.27      0.28   0.29   0.30");
  const std::string best = line_of(text, "cross:1:1");
  CHECK(best.find("0.29") != best.npos);
  CHECK(best.find("0.34") != best.npos);
  CHECK(best.ends_with("0.17  ← 1st"));
  CHECK(line_of(text, "cross:1:0").ends_with("← 2nd"));
  CHECK(line_of(text, "cross:0:1").ends_with("← 3rd"));
  CHECK(line_of(text, "cross:0:0").ends_with("0.08"));
  CHECK(text.find("Align best: cross:1:1 (0.34), cross:1:0 (0.28), cross:0:1 (0.22).\n") !=
        text.npos);
  for (const char* column :
       {"entropy", "distance", "diagonal", "end, start", "punct", "aligns", "reads"}) {
    CAPTURE(column);
    line_of(text, column);  // each is explained
  }
  CHECK(text.find("AER") == text.npos);
}

TEST_CASE("report before and after: two rows a head that changed, how many did not") {
  const HeadReport before = sample_report();
  HeadReport after = before;
  CHECK(render_head_changes(before, after) ==
        "heads of sample over 3 sentences, before and after\n\nNo head's figures change.\n");
  at(after.cross.metrics, 2) = {};  // cross:1:0 is disabled
  at(after.decoder_self.metrics, 3).end_mass = 0.99F;
  at(after.decoder_self.metrics, 0).entropy = 0.1101F;  // shown as 0.11, like before
  const std::string text = render_head_changes(before, after);
  const auto lines = lines_of(text);
  CHECK(text.find("encoder") == text.npos);
  CHECK(lines_of(text)[2] == "decoder self-attention");
  CHECK(lines[4] == "head                 entropy  distance  diagonal  start  punct");
  CHECK(lines[6] == "decoder:1:1  before     0.26      0.27      0.28   0.29   0.30");
  CHECK(lines[7] == "             after      0.26      0.27      0.28   0.99   0.30");
  CHECK(lines[13] == "cross:1:0  before     0.23      0.24      0.25  0.26   0.27    0.28   0.14");
  CHECK(lines[14] == "           after         –         –         –     –      –       –      –");
  CHECK(text.ends_with("The figures of 10 other heads do not change.\n"));
  for (const std::string& line : lines) CHECK_MESSAGE(display_width(line) <= 80, line);
}

TEST_CASE("report as text: no line is wider than 80 columns, whatever the layers") {
  for (const HeadReport& report : {sample_report(), sample_report(12, 16), gold_report()}) {
    for (const std::string& line : lines_of(render_head_report(report))) {
      CHECK_MESSAGE(display_width(line) <= 80, line);
    }
  }
}

TEST_CASE("report as text: heads that align what they read are marked, and not called best") {
  HeadReport report = sample_report();
  report.cross.metrics[3].read_alignment = 0.9F;
  report.best = {{1, 0}, {0, 1}, {0, 0}, {1, 1}};
  std::string text = render_head_report(report);
  CHECK(line_of(text, "cross:1:1").ends_with("0.90  reads"));
  CHECK(line_of(text, "cross:1:0").ends_with("← 1st"));
  CHECK(text.find("Align best: cross:1:0 (0.28), cross:0:1 (0.22), cross:0:0 (0.16).\n") !=
        text.npos);
  report.best = {{1, 0}, {1, 1}};
  text = render_head_report(report);
  CHECK(text.find("Aligns best: cross:1:0 (0.28).\n") != text.npos);
}

TEST_CASE("report as text: against gold, the lowest error rate first") {
  const std::string text = render_head_report(gold_report());
  CHECK(text.find("word alignments against 2 gold ones\n") != text.npos);
  // 1 − 2·3/18; 1 − 11/18; nothing found in rollout.
  const std::size_t average = text.find("average");
  const std::size_t layer = text.find("layer:0");
  const std::size_t rollout = text.find("rollout");
  CHECK(average < layer);
  CHECK(layer < rollout);
  std::string line = line_of(text, "average");
  CHECK(line.find("0.389") != line.npos);
  CHECK(line.find("0.750") != line.npos);  // 6 of 8
  CHECK(line.find("0.500") != line.npos);  // 5 of 10
  CHECK(text.find("1 pair was left out") != text.npos);
  line_of(text, "AER");
  CHECK(text.find("cross:1:1  0.667") != text.npos);
}

TEST_CASE("report as text: figures that nothing defines, and no sentences") {
  HeadReport report = sample_report(1, 1);
  report.encoder_self.metrics[0] = {};
  report.cross.metrics[0].alignment.reset();
  report.best.clear();
  report.skipped_rows = 1;
  const std::string text = render_head_report(report);
  CHECK(line_of(text, "encoder:0:0") == "encoder:0:0        –         –         –    –      –");
  CHECK(text.find("best:") == text.npos);
  CHECK(text.find("1 row held no finite numbers and counts nowhere.") != text.npos);
  CHECK(render_head_report(HeadReport{}).find("No sentence held a word") != std::string::npos);
  HeadReport hostile;
  hostile.model = "\x1b[31m\u202e";
  CHECK(render_head_report(hostile).starts_with("heads of \\u{1b}[31m\\u{202e} over 0 sentences"));
}

}  // namespace
}  // namespace attn
