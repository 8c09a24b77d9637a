// Tests links of a line's parts, counted by the words of the whole line.
#include "analysis/alignment.h"

#include <doctest/doctest.h>

using namespace attn;

namespace {

AttentionRecord part_of(const std::string& gap, const std::string& source,
                        const std::vector<std::pair<std::string, std::vector<AlignmentLink>>>& of) {
  AttentionRecord record;
  record.part = LinePart{1, 1, 1, "", gap};
  record.source_text = source;
  for (const auto& [text, links] : of) {
    HypothesisRecord& hypothesis = record.hypotheses.emplace_back();
    hypothesis.text = text;
    hypothesis.alignment = WordAlignment{"cross:0:1", {}, {}, {}, links};
  }
  return record;
}

}  // namespace

TEST_CASE("words count on from part to part, in source and translation") {
  const std::vector<AttentionRecord> parts = {
      part_of("", "I came.", {{"Ich bin gekommen.", {{0, 0, 0.5F}, {1, 2, 0.25F}}}, {"Kam.", {}}}),
      part_of(" ", "He left.", {{"Er ging.", {{0, 0, 1}, {1, 1, 1}}}}),
  };
  const std::vector<std::size_t> first{0, 0}, second{1, 0};
  const WordAlignment line = line_alignment(parts, first);
  CHECK(line.from == "cross:0:1");
  CHECK(line.links ==
        std::vector<AlignmentLink>{{0, 0, 0.5F}, {1, 2, 0.25F}, {2, 3, 1}, {3, 4, 1}});
  CHECK(line_alignment(parts, second).links == std::vector<AlignmentLink>{{2, 1, 1}, {3, 2, 1}});
}

TEST_CASE("without spaces between, a part's first word is the last one of the part before") {
  // This does not apply to scripts without spaces: 彼 | 。 | 彼女 | は | 。
  const std::vector<AttentionRecord> parts = {part_of("", "彼。", {{"Er da.", {{0, 1, 1}}}}),
                                              part_of("", "彼女 は。", {{"Sie.", {{1, 0, 1}}}}),
                                              part_of("", "何。", {{"", {}}})};
  const std::vector<std::size_t> ranks{0, 0, 0};
  CHECK(line_alignment(parts, ranks).links == std::vector<AlignmentLink>{{0, 1, 1}, {3, 1, 1}});
}
