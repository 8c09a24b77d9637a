// Fuzzes parallel text: the source before the first 0xFF, the target after it.
#include "fuzz.h"
#include "train/corpus.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view target = bytes;
  const std::string_view source = fuzz::take_part(target);
  const ParallelFiles names{"text.en", "text.de"};
  fuzz::accepts([&] {
    const ParallelText text = parse_parallel(source, target, names);
    fuzz::require(text.source.size() == text.target.size(), "as many lines");
    for (const std::string& line : text.source) fuzz::require(is_valid_utf8(line), "UTF-8");
    for (const std::string& line : text.target) fuzz::require(is_valid_utf8(line), "UTF-8");
  });
}
