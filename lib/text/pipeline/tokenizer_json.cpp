#include "text/pipeline/tokenizer_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "text/pipeline/json_components.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostPieceBytes = 2048;

class TokenizerJsonReader {
 public:
  TokenizerJsonReader(const Json& document, const TokenizerSettings& settings,
                      const std::string& where)
      : root_(document, where), settings_(settings), where_(where) {}

  Pipeline run() {
    for (const char* key : {"version", "truncation", "padding"})
      root_.find(key);  // only for batches
    p_.normalizers = normalizers_of(part("normalizer"), where_);
    p_.pre_tokenizers = pre_tokenizers_of(part("pre_tokenizer"), where_);
    p_.decoders = decoders_of(part("decoder"), where_);
    p_.join_with_spaces = part("decoder").is_null();
    p_.pieces_are_byte_level = has_byte_level(part("decoder"));
    p_.source = post_processor_of(part("post_processor"), where_);
    read_model();
    read_added_tokens();
    root_.refuse_unused();
    find_special_tokens();
    set_target();
    add_language_tokens(p_, settings_, where_);
    return std::move(p_);
  }

 private:
  const Json& part(const char* key) {
    static const Json nothing;
    const Json* found = root_.find(key);
    return found == nullptr ? nothing : *found;
  }

  /// Old files do not contain the model's type.
  void read_model() {
    const Json& json = part("model");
    KeyReader model(json, where_ + ": model");
    const bool pairs = json.contains("merges");
    const std::string type = model.text("type").value_or(pairs ? "BPE" : "Unigram");
    if (type == "Unigram") {
      read_unigram(model);
    } else if (type == "BPE") {
      read_byte_pairs(model);
    } else {
      model.fail("type", fmt::format("{} is not supported; supported are BPE and Unigram",
                                     in_quotes(type)));
    }
    model.refuse_unused();
  }

  /// Reads "vocab": [["<unk>", 0.0], …].
  void read_unigram(KeyReader& model) {
    const Json* vocab = model.find("vocab");
    const std::optional<int> unknown = model.integer("unk_id");
    if (vocab == nullptr || !vocab->is_array() || vocab->empty()) {
      model.fail("vocab", "is missing; expected a list of pieces and their scores");
    }
    std::vector<ScoredPiece> pieces;
    for (const Json& entry : *vocab) {
      const bool right = entry.is_array() && entry.size() == 2 && entry[0].is_string() &&
                         entry[1].is_number() && std::isfinite(entry[1].get<double>());
      if (!right) {
        model.fail("vocab", fmt::format("has {}; expected a piece and its score", describe(entry)));
      }
      pieces.push_back({entry[0].get<std::string>(), entry[1].get<double>()});
      p_.pieces.push_back(pieces.back().text);
    }
    check_pieces(model);
    if (!unknown || *unknown < 0 || *unknown >= std::ssize(pieces)) {
      model.fail("unk_id", fmt::format("is not an id from 0 to {}", pieces.size() - 1));
    }
    unknown_ = pieces[to_size(*unknown)].text;
    p_.clean_up_spaces = settings_.clean_up_spaces;
    p_.subword_model =
        unigram_model(std::move(pieces), *unknown, model.boolean("byte_fallback").value_or(false));
  }

  void read_byte_pairs(KeyReader& model) {
    const Json* vocab = model.find("vocab");
    if (vocab == nullptr || !vocab->is_object()) {
      model.fail("vocab", "is missing; expected an object of pieces and their ids");
    }
    std::vector<std::pair<std::string, int>> entries;
    for (const auto& [piece, id] : vocab->items()) {
      const std::optional<int> number = as_int(id);
      if (!number || *number < 0) {
        model.fail("vocab", fmt::format("has the id {}; expected whole numbers", describe(id)));
      }
      entries.emplace_back(piece, *number);
    }
    auto vocabulary = std::make_shared<const Vocabulary>(
        Vocabulary::of(std::move(entries), where_ + ": model: vocab"));
    for (int id = 0; id < vocabulary->size(); ++id) p_.pieces.push_back(vocabulary->piece(id));
    check_pieces(model);
    BpeMerges merges = read_merges(model, *vocabulary);
    UnknownHandling unknown;
    if (const Json* token = model.find_not_null("unk_token")) {
      if (!token->is_string()) model.fail_type("unk_token", *token, "a piece");
      unknown_ = token->get<std::string>();
      unknown.unknown = required_id(*vocabulary, unknown_, where_);
    }
    unknown.fuse_unk = model.boolean("fuse_unk").value_or(false);
    unknown.byte_fallback = model.boolean("byte_fallback").value_or(false);
    refuse_other_pairs(model);
    p_.subword_model = bpe_model(std::move(vocabulary), std::move(merges), unknown);
  }

  /// Reads merges as "a b" or ["a", "b"].
  BpeMerges read_merges(KeyReader& model, const Vocabulary& vocabulary) {
    const Json* list = model.find("merges");
    if (list == nullptr || !list->is_array()) {
      model.fail("merges", "is missing; expected a list of pairs of pieces");
    }
    BpeMerges merges;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& merge = (*list)[i];
      const auto here = [&] { return fmt::format("{}: model: merges: {}", where_, i); };
      if (merge.is_string()) {
        const std::string& both = merge.get_ref<const std::string&>();
        const std::size_t blank = both.find(' ');
        if (blank != both.npos && both.find(' ', blank + 1) == both.npos) {
          merges.add(std::string_view(both).substr(0, blank),
                     std::string_view(both).substr(blank + 1), vocabulary, here);
          continue;
        }
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        merges.add(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>(),
                   vocabulary, here);
        continue;
      }
      throw InputError("{}: found {}; expected two pieces", here(), describe(merge));
    }
    return merges;
  }

  /// Rejects options that would change the result and that no class of these models uses.
  void refuse_other_pairs(KeyReader& model) const {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Json* value = model.find_not_null(key);
      if (value != nullptr && *value != "") {
        model.fail(key,
                   fmt::format("is {}, which is not supported; expected none", describe(*value)));
      }
    }
    const Json* dropout = model.find_not_null("dropout");
    if (dropout != nullptr && *dropout != 0) {
      model.fail("dropout", fmt::format("is {}; expected null", describe(*dropout)));
    }
    if (model.boolean("ignore_merges").value_or(false)) {
      model.fail("ignore_merges", "is true, which is not supported; expected false");
    }
  }

  void check_pieces(const KeyReader& model) const {
    for (const std::string& piece : p_.pieces) {
      if (piece.size() <= kMostPieceBytes) continue;
      model.fail("vocab", fmt::format("has a piece of {} bytes; expected at most {}", piece.size(),
                                      kMostPieceBytes));
    }
  }

  void read_added_tokens() {
    const Json& list = part("added_tokens");
    if (!list.is_array() && !list.is_null()) {
      root_.fail_type("added_tokens", list, "a list of tokens");
    }
    std::vector<AddedToken> tokens;
    for (const Json& one : list) {
      const Json id = one.is_object() && one.contains("id") ? one["id"] : Json();
      tokens.push_back(read_added_token(one, id, where_ + ": added_tokens"));
      tokens.back().typed_as_text =
          tokens.back().special && settings_.is_model_special_token(tokens.back().text);
    }
    std::ranges::stable_sort(tokens, {}, &AddedToken::id);
    add_tokens(p_, tokens, where_ + ": added_tokens");
  }

  void find_special_tokens() {
    const auto id_of = [&](const std::string& token) {
      const auto found = std::ranges::find(p_.pieces, token);
      if (found == p_.pieces.end()) {
        throw InputError(
            "{}: the special piece \"{}\" is missing; expected it with an id of its "
            "own",
            where_, excerpt(token));
      }
      return to_int(found - p_.pieces.begin());
    };
    p_.special.eos = id_of(settings_.eos_token);
    p_.special.pad = id_of(settings_.pad_token);
    const bool other = std::ranges::find(p_.pieces, settings_.unk_token) == p_.pieces.end();
    p_.special.unk = id_of(other && !unknown_.empty() ? unknown_ : settings_.unk_token);
    for (const auto* ids : {&p_.source.before, &p_.source.after}) {
      for (const int id : *ids) {
        if (id >= 0 && id < std::ssize(p_.pieces)) continue;
        throw InputError("{}: post_processor puts id {} around a text; expected 0 to {}", where_,
                         id, p_.pieces.size() - 1);
      }
    }
  }

  /// A translation begins with the language token of its own language.
  void set_target() {
    p_.target = p_.source;
    const auto id_of = [&](const std::string& token) {
      const auto found = std::ranges::find(p_.pieces, token);
      return found == p_.pieces.end() || token.empty() ? -1 : to_int(found - p_.pieces.begin());
    };
    const int source = id_of(settings_.source_language);
    const int target = id_of(settings_.target_language);
    if (source < 0 || target < 0) return;
    std::ranges::replace(p_.target.before, source, target);
    std::ranges::replace(p_.target.after, source, target);
  }

  KeyReader root_;
  const TokenizerSettings& settings_;
  const std::string& where_;
  Pipeline p_;
  std::string unknown_;  ///< the model's own unknown token
};

}  // namespace

Pipeline read_tokenizer_json(std::string_view text, const TokenizerSettings& settings,
                             const std::string& where) {
  const Json document = parse_json(text, where, {.max_bytes = kMostBytes});
  return TokenizerJsonReader(document, settings, where).run();
}

// The tokenizer of a directory with tokenizer.json and tokenizer_config.json.

std::unique_ptr<const TokenizerKind> json_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  return pipeline_tokenizer(read_tokenizer_json(read_tokenizer_file(directory, "tokenizer.json"),
                                                settings, directory + "/tokenizer.json"));
}

}  // namespace attn
