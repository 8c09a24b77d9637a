// Tests the search for translations with given terms against an exhaustive search on tiny
// vocabularies.
#include "translate/search/term_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "base/at.h"
#include "model/transformer.h"
#include "translate/search/logits_processor.h"
#include "translate/terms.h"

using namespace attn;

// Has a name because several tests are compiled as one file.
namespace term_search_test {
namespace {

using Ids = std::vector<int>;
constexpr int kEnd = 0, kStart = 4, kVocabulary = 5, kLongest = 5;
constexpr int kContinues = 4;  // continues a word if a term says so

Transformer tiny_model(std::uint64_t seed) {
  ModelConfig c;
  c.d_model = 16;
  c.encoder_layers = c.decoder_layers = 1;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 32;
  c.vocab_size = c.decoder_vocab_size = kVocabulary;
  c.pad_token_id = c.decoder_start_token_id = kStart;
  return random_model(c, seed, default_backend());
}

PackedTokens packed(const Ids& ids) {
  PackedTokens one;
  one.add(ids);
  return one;
}

/// Counts the positions where a form of the term ends with a word, in the simplest way.
int ends_of(const SentenceTerm& term, const Ids& ids) {
  int found = 0;
  for (std::size_t end = 1; end <= ids.size(); ++end) {
    bool here = false;
    for (const Ids& form : term.forms) {
      const bool word_ends = !term.continues || end == ids.size() || ids[end] != kContinues;
      here = here ||
             (word_ends && form.size() <= end &&
              Ids(ids.begin() + to_index(end - form.size()), ids.begin() + to_index(end)) == form);
    }
    found += here;
  }
  return found;
}

bool holds_all(const SentenceTerms& terms, const Ids& ids) {
  return std::ranges::all_of(
      terms, [&](const SentenceTerm& term) { return ends_of(term, ids) >= term.times; });
}

/// Returns every translation that ends or has `kLongest` tokens.
std::vector<Ids> all_translations() {
  std::vector<Ids> all;
  const std::function<void(Ids)> extend = [&](const Ids& ids) {
    for (int token = 0; token < kVocabulary; ++token) {
      Ids longer = ids;
      longer.push_back(token);
      if (token == kEnd || longer.size() == kLongest) {
        all.push_back(longer);
      } else {
        extend(longer);
      }
    }
  };
  extend({});
  return all;
}

/// Computes the score of a translation in one pass of the decoder over all of its tokens.
float score_of(const Transformer& model, const EncodedSource& source, const Ids& ids) {
  Ids input{kStart};
  input.insert(input.end(), ids.begin(), ids.end() - 1);
  const Matrix hidden = model.decode(packed(input), source, nullptr);
  Matrix logits(hidden.rows(), kVocabulary);
  model.logits(hidden, logits);
  float sum = 0;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const std::span<const float> row{&logits(to_index(t), 0), kVocabulary};
    sum += log_softmax(row)(row[to_size(ids[t])]);
  }
  return hypothesis_score(sum, ids.size(), 1);
}

DecodeConfig config(int beams) {
  DecodeConfig decode;
  decode.num_beams = beams;
  decode.max_new_tokens = kLongest;
  decode.early_stopping = EarlyStopping::never;
  return decode;
}

SearchHypothesis searched(const Transformer& model, const Ids& source, const SentenceTerms& terms,
                          const DecodeConfig& decode) {
  const std::vector<SentenceTerms> one{terms};
  return search(model, packed(source), decode, {.terms = one}).front().front();
}

/// Returns one to two terms, each with one to two forms of one to three tokens.
SentenceTerms random_terms(std::mt19937& random) {
  const auto upto = [&](int most) {
    return 1 + static_cast<int>(random() % static_cast<unsigned>(most));
  };
  SentenceTerms terms;
  for (int i = upto(2); i > 0; --i) {
    SentenceTerm term{"term", {}, 1};
    for (int f = upto(2); f > 0; --f) {
      Ids form;
      for (int n = upto(i == 2 ? 2 : 3); n > 0; --n) form.push_back(upto(3));
      term.forms.push_back(form);
    }
    if (term.forms.front().size() == 1) term.times = upto(2);
    if (term.forms.size() == 2) {
      term.continues = [](const Ids&, int next) { return next == kContinues; };
    }
    terms.push_back(term);
  }
  return terms;
}

}  // namespace

TEST_CASE("with room for every hypothesis, the search finds the best translation with the terms") {
  const std::vector<Ids> all = all_translations();
  std::mt19937 random(7);
  int searches = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Transformer model = tiny_model(seed);
    const Ids source{1, static_cast<int>(seed % 3) + 1, 2, kEnd};
    const EncodedSource encoded = model.encode(packed(source), nullptr);
    std::vector<float> scores;
    for (const Ids& ids : all) scores.push_back(score_of(model, encoded, ids));
    for (int trial = 0; trial < 8; ++trial) {
      const SentenceTerms terms = random_terms(random);
      const Ids* best = nullptr;
      float best_score = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!holds_all(terms, all[i]) || (best != nullptr && scores[i] <= best_score)) continue;
        best = &all[i];
        best_score = scores[i];
      }
      if (best == nullptr) continue;
      ++searches;
      const SearchHypothesis found = searched(model, source, terms, config(300));
      CHECK(found.ids == *best);
      CHECK(found.score == doctest::Approx(best_score).epsilon(1e-4));
      // A small beam may miss the best translation, but never a term.
      for (const int beams : {1, 2, 4}) {
        const SearchHypothesis small = searched(model, source, terms, config(beams));
        CHECK(holds_all(terms, small.ids));
        CHECK(small.score <= best_score + 1e-4F);
      }
    }
  }
  CHECK(searches > 30);
}

TEST_CASE("terms that cannot be completed end a search all the same") {
  const Transformer model = tiny_model(3);
  const Ids source{1, 2, kEnd};
  DecodeConfig decode = config(4);
  decode.bad_words_ids = {{2}};
  const SearchHypothesis forbidden = searched(model, source, {{"a", {{2}}, 1}}, decode);
  CHECK(!forbidden.ids.empty());
  CHECK(std::ranges::find(forbidden.ids, 2) == forbidden.ids.end());
  const SearchHypothesis too_long =
      searched(model, source, {{"b", {{1, 2, 3, 1, 2, 3}}, 1}}, config(4));
  CHECK(too_long.ids.size() <= kLongest);
  // The form that fits is used if the other one does not.
  const SentenceTerms either{{"c", {{1, 2, 3, 1, 2, 3}, {3}}, 1}};
  CHECK(holds_all(either, searched(model, source, either, config(4)).ids));
}

TEST_CASE("a form that a longer word begins with does not count") {
  SentenceTerms terms{{"a", {{1, 2}}, 1}};
  CHECK(missing_term_tokens(terms, Ids{1, 2, kContinues}) == 0);
  terms.front().continues = [](const Ids& form, int next) {
    return form == Ids{1, 2} && next == kContinues;
  };
  CHECK(missing_term_tokens(terms, Ids{1, 2}) == 0);
  CHECK(missing_term_tokens(terms, Ids{1, 2, 3}) == 0);
  CHECK(missing_term_tokens(terms, Ids{1, 2, kContinues}) == 2);
  CHECK(missing_term_tokens(terms, Ids{1, 2, kContinues, 1}) == 1);
}

TEST_CASE("missing tokens are counted over forms, beginnings and repetitions") {
  const SentenceTerms terms{{"a", {{1, 2, 3}, {2, 2}}, 1}, {"b", {{3}}, 2}};
  CHECK(missing_term_tokens(terms, {}) == 4);
  CHECK(missing_term_tokens(terms, Ids{2}) == 3);
  CHECK(missing_term_tokens(terms, Ids{1, 2}) == 3);
  CHECK(missing_term_tokens(terms, Ids{1, 2, 3}) == 1);
  CHECK(missing_term_tokens(terms, Ids{1, 2, 3, 3}) == 0);
  CHECK(missing_term_tokens(terms, Ids{2, 1}) == 4);
}

TEST_CASE("a term occurs as a whole word, also capitalized, and the longest one counts") {
  const std::vector<Term> terms{{"house", {"Haus"}},
                                {"hard drive", {"Festplatte"}},
                                {"drive", {"Laufwerk"}},
                                {"Öl", {"oil"}},
                                {"C++", {"C++"}}};
  const auto counts = [&](std::string_view text) { return count_terms(terms, text); };
  CHECK(counts("The house is a house.") == std::vector<int>{2, 0, 0, 0, 0});
  CHECK(counts("House! “house”, (house) house's") == std::vector<int>{4, 0, 0, 0, 0});
  CHECK(counts("houses, lighthouse, HOUSE, houseö, house2") == std::vector<int>{0, 0, 0, 0, 0});
  CHECK(counts("A hard drive and a drive.") == std::vector<int>{0, 1, 1, 0, 0});
  CHECK(counts("Öl öl C++ C++11") == std::vector<int>{0, 0, 0, 1, 2});
  CHECK(counts("") == std::vector<int>(5));
}

}  // namespace term_search_test
