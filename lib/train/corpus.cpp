#include "train/corpus.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "compute/threads.h"

namespace attn {
namespace {

std::vector<std::string> read_side(std::string_view text, const std::string& path,
                                   std::size_t& controls) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) {
    CleanedText cleaned = clean_text(line);
    if (cleaned.invalid_bytes > 0) {
      throw InputError(
          "{}:{}: not valid UTF-8; training text must be: convert it, for example with iconv -f "
          "latin1 -t utf-8",
          printable(path), lines.size() + 1);
    }
    controls += cleaned.controls;
    lines.push_back(std::move(cleaned.text));
  }
  return lines;
}

}  // namespace

ParallelText read_parallel(const DataFiles& files) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 34;
  const std::string source = read_file(files.source, kMostBytes);
  return parse_parallel(source, read_file(files.target, kMostBytes), files);
}

ParallelText parse_parallel(std::string_view source, std::string_view target,
                            const DataFiles& files) {
  ParallelText text;
  text.source = read_side(source, files.source, text.controls);
  text.target = read_side(target, files.target, text.controls);
  if (text.source.size() != text.target.size()) {
    throw InputError(
        "{} has {} lines and {} has {}; line n of one must be the translation of line n of the "
        "other",
        printable(files.source), text.source.size(), printable(files.target), text.target.size());
  }
  if (text.source.empty()) {
    throw InputError("{} and {} are empty; expected a sentence a line", printable(files.source),
                     printable(files.target));
  }
  return text;
}

void Sentences::add(const std::vector<int>& ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  offsets_.push_back(ids_.size());
}

Corpus make_corpus(const ParallelText& text, const Tokenizer& tokenizer, std::size_t max_tokens) {
  constexpr std::size_t kLines = 4096;  // cut by the threads at a time, then added in order
  struct Pair {
    std::vector<int> source;
    std::vector<int> target;
  };
  Corpus corpus;
  std::vector<Pair> pairs;
  for (std::size_t first = 0; first < text.source.size(); first += kLines) {
    pairs.assign(std::min(kLines, text.source.size() - first), {});
    constexpr Index kCostOfLine = 1 << 16;
    const auto count = static_cast<Index>(pairs.size());
    parallel_for(count, count * kCostOfLine, [&](Index i) {
      const auto line = static_cast<std::size_t>(i);
      pairs[line] = {tokenizer.encode_source(text.source[first + line]).ids,
                     tokenizer.encode_target(text.target[first + line]).ids};
    });
    for (const auto& [source, target] : pairs) {
      if (source.size() < 2 || target.size() < 2) {
        ++corpus.empty;
      } else if (source.size() > max_tokens || target.size() > max_tokens) {
        ++corpus.too_long;
      } else {
        corpus.source.add(source);
        corpus.target.add(target);
      }
    }
  }
  return corpus;
}

}  // namespace attn
