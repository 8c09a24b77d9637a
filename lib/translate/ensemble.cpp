#include "translate/ensemble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

void require_same(const Transformer& first, const Transformer& other, const char* what, int a,
                  int b) {
  if (a == b) return;
  throw InputError(
      "{} has {} {}, and {} has {}; models that translate together share one "
      "vocabulary",
      first.name(), what, a, other.name(), b);
}

/// One of the two vocabularies of a tokenizer.
struct VocabularySide {
  const char* name;
  int (Tokenizer::*size)() const;
  const std::string& (Tokenizer::*piece)(int) const;
};

void require_same_pieces(const VocabularySide& side, const Tokenizer& first, const Tokenizer& other,
                         const std::string& names) {
  const int size = (first.*side.size)();
  if (size != (other.*side.size)()) {
    throw InputError("{}: {} and {} {} pieces; models that translate together share one vocabulary",
                     names, size, (other.*side.size)(), side.name);
  }
  for (int id = 0; id < size; ++id) {
    const std::string& piece = (first.*side.piece)(id);
    if (piece == (other.*side.piece)(id)) continue;
    throw InputError(
        "{}: {} piece {} is {} and {}; models that translate together share one vocabulary", names,
        side.name, id, excerpt(piece), excerpt((other.*side.piece)(id)));
  }
}

}  // namespace

Ensemble::Ensemble(std::vector<const Transformer*> models) : models_(std::move(models)) {
  const Transformer& first = *models_.front();
  for (const Transformer* other : models_) {
    const ModelConfig& a = first.config();
    const ModelConfig& b = other->config();
    require_same(first, *other, "vocab_size", a.vocab_size, b.vocab_size);
    require_same(first, *other, "decoder_vocab_size", a.decoder_vocab_size, b.decoder_vocab_size);
    require_same(first, *other, "eos_token_id", a.eos_token_id, b.eos_token_id);
    require_same(first, *other, "pad_token_id", a.pad_token_id, b.pad_token_id);
    require_same(first, *other, "decoder_start_token_id", a.decoder_start_token_id,
                 b.decoder_start_token_id);
  }
}

Index Ensemble::max_positions() const {
  Index fewest = config().max_positions;
  for (const Transformer* model : models_) {
    fewest = std::min<Index>(fewest, model->config().max_positions);
  }
  return fewest;
}

Index Ensemble::max_decoder_positions() const {
  Index fewest = config().decoder_positions();
  for (const Transformer* model : models_) {
    fewest = std::min<Index>(fewest, model->config().decoder_positions());
  }
  return fewest;
}

std::string Ensemble::name() const {
  std::vector<std::string> names;
  for (const Transformer* model : models_) names.push_back(model->name());
  return fmt::format("{}", fmt::join(names, " and "));
}

void require_same_vocabulary(const Tokenizer& first, const std::string& first_name,
                             const Tokenizer& other, const std::string& other_name) {
  const std::string names = fmt::format("{} and {}", first_name, other_name);
  require_same_pieces({"source", &Tokenizer::source_vocab_size, &Tokenizer::source_token}, first,
                      other, names);
  require_same_pieces({"target", &Tokenizer::target_vocab_size, &Tokenizer::target_token}, first,
                      other, names);
}

}  // namespace attn
