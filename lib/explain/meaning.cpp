#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "explain/head_steps.h"
#include "explain/matrices.h"
#include "model/packed_tokens.h"

namespace attn {
namespace {

constexpr std::size_t kMostOccurrences = 12;

struct Occurrence {
  std::size_t sentence = 0;
  Index first = 0;  ///< row of the word's first token
};

std::vector<Occurrence> find(const std::vector<TokenSequence>& sentences,
                             const std::vector<int>& ids) {
  std::vector<Occurrence> found;
  for (std::size_t s = 0; s < sentences.size() && !ids.empty(); ++s) {
    const std::vector<int>& all = sentences[s].ids;
    for (auto at = all.begin();;) {
      at = std::search(at, all.end(), ids.begin(), ids.end());
      if (at == all.end()) break;
      found.push_back({s, at - all.begin()});
      at += std::ssize(ids);
    }
  }
  return found;
}

/// Computed in double, because the squares of large floats overflow a float.
float cosine(const RowVector& a, const RowVector& b) {
  const auto x = a.cast<double>();
  const auto y = b.cast<double>();
  const double lengths = x.norm() * y.norm();
  return lengths > 0 ? static_cast<float>(x.dot(y) / lengths) : 0.0F;
}

/// Returns the mean of the word's rows at one stage of its sentence.
RowVector word_vector(const Matrix& rows, const Occurrence& place, std::size_t pieces) {
  return rows.middleRows(place.first, to_index(pieces)).colwise().mean();
}

/// Returns the cosines of all pairs; rows and columns are named after the occurrences.
NamedMatrix cosines(const std::string& name, const std::vector<RowVector>& vectors,
                    const std::vector<std::string>& labels) {
  const auto n = std::ssize(vectors);
  Matrix matrix(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      matrix(i, j) = cosine(at(vectors, i), at(vectors, j));
    }
  }
  NamedMatrix out = named_matrix(name, matrix);
  out.row_tokens = out.column_tokens = labels;
  return out;
}

/// Formats an occurrence as "light₁"; the number tells occurrences apart.
std::string numbered(const std::string& word, std::size_t number) {
  constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string text = word;
  for (const char digit : std::to_string(number)) text += kDigits[digit - '0'];
  return text;
}

/// Follows the word's vectors through the encoder, for each occurrence.
class MeaningByLayer {
 public:
  MeaningByLayer(const Transformer& model, const std::vector<TokenSequence>& sentences,
                 const FollowedWord& word, std::vector<Occurrence> places)
      : model_(model), word_(word), places_(std::move(places)), passes_(sentences.size()) {
    for (std::size_t s = 0; s < sentences.size(); ++s) {
      PackedTokens packed;
      packed.add(sentences[s].ids);
      model.encode(packed, &passes_[s]);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) labels_.push_back(numbered(word.text, i + 1));
  }

  NamedMatrix table() const {
    const Parameter& embedding = model_.parameters().encoder.embedding;
    RowVector row = RowVector::Zero(embedding.columns);
    for (const int id : word_.ids) {
      for (Index j = 0; j < embedding.columns; ++j) row[j] += embedding.at(id, j);
    }
    return cosines("cosines in the table", std::vector<RowVector>(places_.size(), row), labels_);
  }
  NamedMatrix at(const std::string& name, int layer, Stage stage) const {
    std::vector<RowVector> vectors;
    for (const Occurrence& place : places_) {
      const Matrix& rows = passes_[place.sentence].at(AttentionSite::encoder_self, layer, stage);
      if (!rows.allFinite()) refuse(layer, stage);
      vectors.push_back(word_vector(rows, place, word_.ids.size()));
    }
    return cosines(name, vectors, labels_);
  }
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  [[noreturn]] void refuse(int layer, Stage stage) const {
    throw InputError(
        "{}: the vectors {} are not finite; the weights are too large for 32-bit floats",
        model_.name(),
        stage == Stage::embedded ? "with positions" : fmt::format("after encoder layer {}", layer));
  }

  const Transformer& model_;
  const FollowedWord& word_;
  std::vector<Occurrence> places_;
  std::vector<ActivationCollector> passes_;
  std::vector<std::string> labels_;
};

/// Summarizes all stages in one table: one row per stage, one column per pair of occurrences.
NamedMatrix overview(const std::vector<NamedMatrix>& stages,
                     const std::vector<std::string>& labels) {
  NamedMatrix table;
  table.listing = true;
  table.name = "cosine of each pair";
  table.rows = to_int(stages.size());
  const int n = to_int(labels.size());
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      table.column_tokens.push_back(at(labels, i) + "·" + at(labels, j));
    }
  }
  table.columns = to_int(table.column_tokens.size());
  for (const NamedMatrix& stage : stages) {
    table.row_tokens.push_back(stage.name.substr(std::string("cosines ").size()));
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        table.values.push_back(at(stage.values, i * n + j));
      }
    }
  }
  return table;
}

}  // namespace

Explanation explain_meaning(const Transformer& model, const std::vector<TokenSequence>& sentences,
                            const FollowedWord& word) {
  std::vector<Occurrence> places = find(sentences, word.ids);
  if (places.size() < 2) {
    throw InputError(
        "“{}” occurs {} in these sentences, as a whole word in this spelling; give one or more "
        "sentences in which it occurs at least twice",
        excerpt(word.text), places.empty() ? "nowhere" : "once");
  }
  Explanation explanation;
  explanation.title = fmt::format("How the occurrences of “{}” move apart", word.text);
  if (places.size() > kMostOccurrences) {
    explanation.facts.push_back(
        fmt::format("the first {} of {} occurrences", kMostOccurrences, places.size()));
    places.resize(kMostOccurrences);
  }
  const MeaningByLayer journey(model, sentences, word, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    explanation.facts.push_back(fmt::format("{}: sentence {}, token {}", journey.labels()[i],
                                            places[i].sentence + 1, places[i].first));
  }
  std::vector<NamedMatrix> stages{journey.table(),
                                  journey.at("cosines with positions", 0, Stage::embedded)};
  const int layers = model.config().encoder_layers;
  for (int layer = 0; layer < layers; ++layer) {
    stages.push_back(
        journey.at(fmt::format("cosines after layer {}", layer), layer, Stage::layer_output));
  }
  const NamedMatrix all = overview(stages, journey.labels());

  std::vector<ExplanationStep>& steps = explanation.steps;
  steps.push_back(
      {"overview",
       "From one vector to several",
       "cos(a, b) = a · b / (|a| · |b|)",
       fmt::format("{} occurrences, {} pair{}", places.size(), all.columns,
                   all.columns == 1 ? "" : "s"),
       "In the table, a word has one vector, whatever it means. Positions move its copies apart a "
       "little. In each layer they look at their own neighbours, and the layer adds what it finds.",
       {all},
       {}});
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::string what = i == 0   ? "the embedding table"
                             : i == 1 ? "the embedding with its position"
                                      : fmt::format("encoder layer {}", i - 2);
    steps.push_back({i == 0   ? "table"
                     : i == 1 ? "embedded"
                              : fmt::format("layer_{}", i - 2),
                     "After " + what,
                     "",
                     "",
                     "",
                     {std::move(stages[i])},
                     {}});
  }
  return explanation;
}

}  // namespace attn
