#include "text/test_set/test_set_builder.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::size_t kDeepest = 100;
constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kExpected =
    "expected a WMT test set (srcset, refset, tstset, mteval or dataset), TMX, or plain text with "
    "one sentence per line";

/// Elements inside a TMX segment whose text is the formatting codes of a file.
constexpr std::array<std::string_view, 5> kCodes{"bpt", "ept", "it", "ph", "ut"};
/// Elements inside a TMX segment whose text belongs to the segment.
constexpr std::array<std::string_view, 2> kMarked{"hi", "sub"};
/// Elements of TMX that hold notes on the text.
constexpr std::array<std::string_view, 5> kNotes{"note", "prop", "header", "ude", "map"};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_of(const MarkupAttributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : found->second;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == text.npos;
}

/// Replaces runs of whitespace by one space, and removes them at both ends.
std::string single_line(std::string_view text) {
  std::string line;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == text.npos) return line;
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    if (!line.empty()) line += ' ';
    line += text.substr(begin, end - begin);
    text.remove_prefix(end);
  }
}

}  // namespace

void TestSetBuilder::fail(std::size_t line, const std::string& what) const {
  throw InputError("{}:{}: {}", printable(path_), line, printable(what));
}

bool TestSetBuilder::inside(std::string_view name) const {
  return contains(open_, name);
}

void TestSetBuilder::start(std::string_view name, const MarkupAttributes& attributes,
                           std::size_t line) {
  if (open_.size() >= kDeepest)
    fail(line, fmt::format("elements are nested more than {} deep", kDeepest));
  if (open_.empty()) start_root(name, line);
  if (in_segment_) {
    start_in_segment(name, line);
  } else if (set_.format == "TMX") {
    start_tmx(name, attributes, line);
  } else {
    start_wmt(name, attributes, line);
  }
  open_.emplace_back(name);
}

void TestSetBuilder::start_root(std::string_view name, std::size_t line) {
  constexpr std::array<std::string_view, 4> kSets{"srcset", "refset", "tstset", "mteval"};
  if (name == "tmx") {
    set_.format = "TMX";
  } else if (name == "dataset") {
    set_.format = "WMT XML";
  } else if (contains(kSets, name)) {
    set_.format = "WMT SGML";
  } else {
    fail(line,
         fmt::format("found markup with the root element <{}>, {}", excerpt(name), kExpected));
  }
}

void TestSetBuilder::start_in_segment(std::string_view name, std::size_t line) {
  const bool tmx = set_.format == "TMX";
  if (tmx && (skipped_codes_ > 0 || contains(kCodes, name))) {
    ++skipped_codes_;
  } else if (!tmx || !contains(kMarked, name)) {
    fail(line, fmt::format("found <{}> inside of <seg>, expected text", excerpt(name)));
  }
}

void TestSetBuilder::start_wmt(std::string_view name, const MarkupAttributes& attributes,
                               std::size_t line) {
  const auto begin_text = [&](TextRole role, std::string_view name_attribute) {
    if (has_role_) fail(line, fmt::format("found <{}> inside of another text", excerpt(name)));
    has_role_ = true;
    role_ = role;
    text_name_ = value_of(attributes, name_attribute);
  };
  const bool dataset = set_.format == "WMT XML";
  if (name == (dataset ? "src" : "srcset")) {
    begin_text(TextRole::source, "");
  } else if (name == (dataset ? "ref" : "refset")) {
    begin_text(TextRole::reference, dataset ? "translator" : "refid");
  } else if (name == (dataset ? "hyp" : "tstset")) {
    begin_text(TextRole::hypothesis, dataset ? "system" : "sysid");
  } else if (name == "doc") {
    if (inside("doc")) fail(line, "found <doc> inside of <doc>, expected </doc> first");
    document_ = value_of(attributes, dataset ? "id" : "docid");
    segments_in_document_ = 0;
    if (!dataset && role_ != TextRole::source) {
      const std::string system = value_of(attributes, "sysid");
      if (!system.empty()) text_name_ = system;
    }
  } else if (name == "seg") {
    if (!has_role_ || !inside("doc")) {
      fail(line, fmt::format("found <seg> outside of a document's {}, expected it inside",
                             dataset ? "<src>, <ref> or <hyp>" : "<doc>"));
    }
    segment_id_ = value_of(attributes, "id");
    in_segment_ = true;
  }
}

void TestSetBuilder::start_tmx(std::string_view name, const MarkupAttributes& attributes,
                               std::size_t line) {
  if (name == "header") source_language_ = ascii_lower(value_of(attributes, "srclang"));
  if (name == "tu") {
    if (inside("tu")) fail(line, "found <tu> inside of <tu>, expected </tu> first");
    units_.emplace_back();
  }
  if (name == "tuv") {
    if (open_.empty() || open_.back() != "tu") fail(line, "found <tuv> outside of <tu>");
    language_ = ascii_lower(value_of(attributes, "xml:lang"));
    if (language_.empty()) language_ = ascii_lower(value_of(attributes, "lang"));
    if (language_.empty()) fail(line, "found <tuv> without a language, expected xml:lang");
    for (const auto& [known, text] : units_.back().variants) {
      if (known == language_) {
        fail(line, fmt::format("found a second <tuv> in {} in one <tu>", excerpt(language_)));
      }
    }
    units_.back().variants.emplace_back(language_, "");
  }
  if (name == "seg") {
    if (open_.empty() || open_.back() != "tuv") fail(line, "found <seg> outside of <tuv>");
    if (!units_.back().variants.back().second.empty()) fail(line, "found a second <seg> in <tuv>");
    in_segment_ = true;
  }
}

void TestSetBuilder::text(std::string_view bytes, std::size_t line) {
  if (in_segment_) {
    if (skipped_codes_ == 0) segment_ += bytes;
    return;
  }
  if (is_blank(bytes)) return;
  const bool note = set_.format == "TMX" && !open_.empty() && contains(kNotes, open_.back());
  const bool metadata = set_.format == "WMT XML" && !inside("doc");
  if (!note && !metadata) {
    fail(line, fmt::format("found \"{}\" outside of <seg>, expected all text inside of segments",
                           excerpt(single_line(bytes), 40)));
  }
}

void TestSetBuilder::end(std::size_t line) {
  const std::string name = open_.back();
  open_.pop_back();
  if (in_segment_) {
    if (skipped_codes_ > 0) {
      --skipped_codes_;
    } else if (name == "seg") {
      end_segment(line);
    }
    return;
  }
  const bool dataset = set_.format == "WMT XML";
  constexpr std::array<std::string_view, 3> kInDataset{"src", "ref", "hyp"};
  constexpr std::array<std::string_view, 3> kInSgml{"srcset", "refset", "tstset"};
  if (contains(dataset ? kInDataset : kInSgml, name)) {
    has_role_ = false;
    text_name_.clear();
    segments_in_document_ = 0;
  }
}

void TestSetBuilder::end_segment(std::size_t line) {
  in_segment_ = false;
  const std::string text = single_line(std::exchange(segment_, {}));
  if (!is_valid_utf8(text)) fail(line, "not valid UTF-8; convert the file, for example with iconv");
  if (set_.format == "TMX") {
    units_.back().variants.back().second = text;
    return;
  }
  ++segments_in_document_;
  if (segment_id_.empty()) segment_id_ = std::to_string(segments_in_document_);
  TestSetText* into = nullptr;
  for (TestSetText& known : set_.texts) {
    if (known.role == role_ && known.name == text_name_) into = &known;
  }
  if (into == nullptr) into = &set_.texts.emplace_back(TestSetText{role_, text_name_, {}, {}});
  into->lines.push_back(text);
  into->ids.push_back(document_ + "/" + segment_id_);
}

/// Returns the languages of all units in the order of their first occurrence.
std::vector<std::string> TestSetBuilder::languages() const {
  std::vector<std::string> found;
  for (const Unit& unit : units_) {
    for (const auto& [language, text] : unit.variants) {
      if (!contains(found, language)) found.push_back(language);
    }
  }
  return found;
}

/// Arranges the units of a TMX file as two texts.
void TestSetBuilder::finish_units() {
  std::vector<std::string> languages = this->languages();
  if (languages.size() > 2) {  // en-US and en are one language
    const auto drop_region = [](std::string& language) {
      language = language.substr(0, language.find_first_of("-_"));
    };
    for (Unit& unit : units_) {
      for (auto& [language, text] : unit.variants) drop_region(language);
    }
    drop_region(source_language_);
    languages = this->languages();
  }
  if (languages.size() != 2) {
    std::string found;
    for (const std::string& language : languages) found += " " + language;
    throw InputError("{}: found {} languages in <tuv>{}{}, expected two", printable(path_),
                     languages.size(), found.empty() ? "" : ":", excerpt(found));
  }
  const auto is_source = [&](const std::string& language) {
    return !source_language_.empty() &&
           (language == source_language_ || language.starts_with(source_language_ + "-"));
  };
  if (is_source(languages[1]) && !is_source(languages[0])) std::swap(languages[0], languages[1]);
  TestSetText source{TextRole::source, "", {}, {}};
  TestSetText target{TextRole::reference, "", {}, {}};
  for (const Unit& unit : units_) {
    if (unit.variants.size() != 2 || unit.variants[0].first == unit.variants[1].first) {
      ++set_.skipped;
      continue;
    }
    const bool in_order = unit.variants[0].first == languages[0];
    source.lines.push_back(unit.variants[in_order ? 0 : 1].second);
    target.lines.push_back(unit.variants[in_order ? 1 : 0].second);
  }
  set_.texts = {std::move(source), std::move(target)};
}

TestSet TestSetBuilder::finish() {
  if (set_.format == "TMX") finish_units();
  return std::move(set_);
}

}  // namespace attn
