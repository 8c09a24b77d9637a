#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "explain/head_steps.h"
#include "explain/matrices.h"
#include "paper/attention.h"

namespace attn {
namespace {

constexpr Index kShownProducts = 3;  // at each end of a written-out sum
constexpr Index kBoardValues = 6;    // head size up to which a single query shows all values
constexpr Index kBoardFirst = 3;     // number of values shown for a larger head

/// Returns Q · Kᵀ unscaled, as lib/paper computes it. For rows with projections of their own, it is
/// recomputed from the scores.
Matrix raw_scores(const HeadActivations& head) {
  const paper::Matrix query = head.query.cast<double>(), key = head.key.cast<double>();
  Matrix raw = (query * key.transpose()).cast<float>();
  for (Index i = 0; i < raw.rows(); ++i) {
    if (head.has_own_projections(i)) raw.row(i) = head.scores.row(i) / head.scale;
  }
  return raw;
}

/// Returns the key with the largest weight for the marked query; its arithmetic is written out.
Index best_key(const ExplanationContext& s) {
  Index best = 0;
  s.head().weights.row(s.choice.query).maxCoeff(&best);
  return best;
}

/// Returns a note that replaces the arithmetic if it would need numbers that are not shown.
std::string describe_global_projections(const ExplanationContext& s) {
  return fmt::format(
      "{} is a global token: its query, and the keys and values that it looks at, come from "
      "separate projections. They are not shown, but its row is their result.",
      readable_query(s));
}

/// Describes what a non-causal mask hides and adds.
std::string describe_mask(const Matrix& mask) {
  const bool hides = (mask.array() == -std::numeric_limits<float>::infinity()).any();
  const bool adds = (mask.array() > 0.0F).any();
  if (!hides && !adds) {
    return "A single sentence has no padding, and the whole source is known, so nothing is hidden: "
           "the mask is 0 everywhere.";
  }
  std::string says =
      "−∞ if the pattern of this attention leaves a word out: nothing is computed there, and e^−∞ "
      "is exactly 0.";
  if (adds)
    says +=
        " The number added to the first block makes it count several times: it is ln of how many.";
  return says;
}

/// True if a causal mask hides more than the later positions.
bool hides_earlier(const Matrix& mask) {
  for (Index i = 0; i < mask.rows(); ++i) {
    const Index seen = std::min(i + 1, mask.cols());
    if ((mask.row(i).head(seen).array() != 0.0F).any()) return true;
  }
  return false;
}

}  // namespace

ExplanationStep query_key_value_step(const ExplanationContext& s) {
  ExplanationStep step;
  step.id = "head";
  step.title = fmt::format("Q, K and V of head {}", s.choice.head);
  const HeadActivations& head = s.head();
  const std::string origin =
      s.config().head_dim > 0
          ? fmt::format("{}; {} heads have {} columns", s.head_dim(), s.heads(), s.inner())
          : fmt::format("d_model / heads = {} / {} = {}", s.d(), s.heads(), s.head_dim());
  step.shape = fmt::format(
      "Q {}, K {}, V {}; head_dim = {}", shape_of(head.query.rows(), s.head_dim()),
      shape_of(head.key.rows(), s.head_dim()), shape_of(head.value.rows(), s.head_dim()), origin);
  step.why = s.cross() ? "The target asks (Q); the source answers (K and V)."
                       : "All three come from the same sentence, which looks at itself.";
  if (s.rotary()) {  // the recorded queries and keys are rotated already
    const Matrix& all = s.at(Stage::projected);
    const Index key = s.inner() + s.key_begin();
    step.matrices.push_back(s.by_query(named_matrix("Q", all.middleCols(s.begin(), s.head_dim()))));
    step.matrices.push_back(s.by_key(named_matrix("K", all.middleCols(key, s.head_dim()))));
  } else {
    step.matrices.push_back(s.by_query(named_matrix("Q", head.query)));
    step.matrices.push_back(s.by_key(named_matrix("K", head.key)));
  }
  step.matrices.push_back(s.by_key(named_matrix("V", head.value)));
  return step;
}

ExplanationStep rotary_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Index half = s.head_dim() / 2;
  ExplanationStep step;
  step.id = "turned";
  step.title = "Queries and keys are rotated by their positions";
  step.formula = fmt::format(
      "columns i and i + {} of position p are rotated by the angle p / 10000^(i/{}), of Q and of K",
      half, half);
  step.shape = fmt::format("Q {}, K {}", shape_of(head.query.rows(), head.query.cols()),
                           shape_of(head.key.rows(), head.key.cols()));
  step.why =
      "No position was added to the words. Instead, pairs of columns are rotated, and later words "
      "are rotated further. The dot product of two rotated vectors depends on the difference of "
      "their angles, that is on the distance between the words, and not on where they are.";
  step.matrices.push_back(s.by_query(named_matrix("Q turned", head.query)));
  step.matrices.push_back(s.by_key(named_matrix("K turned", head.key)));
  const Matrix& all = s.at(Stage::projected);
  const Index q = s.choice.query;
  const auto value = [](float x) { return number(static_cast<double>(x)); };
  step.lines.push_back(fmt::format(
      "{} at position {}, columns 0 and {}: ({}, {}) rotated by {} becomes ({}, {})",
      readable_query(s), q, half, value(all(q, s.begin())), value(all(q, s.begin() + half)), q,
      value(head.query(q, 0)), value(head.query(q, half))));
  return step;
}

ExplanationStep scores_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Matrix raw = raw_scores(head);
  const Index q = s.choice.query, k = best_key(s);
  ExplanationStep step;
  step.id = "scores";
  step.title = "Every query meets every key";
  step.formula = s.rotary() ? "raw = Q rotated · (K rotated)ᵀ" : "raw = Q · Kᵀ";
  step.shape =
      fmt::format("{} · {} = {}", shape_of(head.query.rows(), head.query.cols()),
                  shape_of(head.key.cols(), head.key.rows()), shape_of(raw.rows(), raw.cols()));
  step.why =
      "The dot product is large if the two vectors point the same way, that is if a key offers "
      "what the query looks for.";
  step.matrices.push_back(s.query_by_key(named_matrix("raw", raw)));
  if (head.has_own_projections(q)) {
    step.lines.push_back(describe_global_projections(s));
    return step;
  }
  step.lines.push_back(
      fmt::format("{} · {}: {}", readable_query(s), readable(at(s.keys().tokens, k)),
                  sum_of_products(head.query.row(q), head.key.row(k), kShownProducts,
                                  static_cast<double>(raw(q, k)))));
  return step;
}

ExplanationStep scaling_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  ExplanationStep step;
  step.id = "scaled";
  step.title = "The scores are scaled";
  const bool scaled = s.config().scale_attention;
  step.formula = scaled ? fmt::format("scaled = raw / √head_dim = raw / √{} = raw · {}",
                                      s.head_dim(), number(static_cast<double>(head.scale)))
                        : "scaled = raw (this model does not scale)";
  if (scaled) {
    step.latex = fmt::format(
        "\\text{{scaled}} = \\frac{{\\text{{raw}}}}{{\\sqrt{{d_{{\\text{{head}}}}}}}} = "
        "\\frac{{\\text{{raw}}}}{{\\sqrt{{{}}}}}",
        s.head_dim());
  }
  step.shape = shape_of(head.scores.rows(), head.scores.cols());
  step.why =
      "A sum of head_dim products grows with √head_dim; without the division, softmax would see "
      "large differences and look at one word only.";
  step.matrices.push_back(s.query_by_key(named_matrix("scaled", head.scores)));
  return step;
}

ExplanationStep relative_bias_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Index n = head.relative_bias.rows(), q = s.choice.query;
  const bool causal = s.choice.site == AttentionSite::decoder_self;
  ExplanationStep step;
  step.id = "distances";
  step.title = "Each distance has a bias";
  step.formula = "biased[i, j] = scaled[i, j] + bias(j − i)";
  step.shape = shape_of(n, head.relative_bias.cols());
  step.why =
      "No position was added to the words. Instead, a head has learned a number for each distance "
      "between query and key, and adds it to their score. So it can look at a neighbour, whichever "
      "word is there. Each near distance has its own number, and far distances share numbers.";
  step.matrices.push_back(s.query_by_key(named_matrix("bias", head.relative_bias)));
  step.matrices.push_back(s.query_by_key(named_matrix("biased", head.scores + head.relative_bias)));
  Matrix by_distance(s.heads(), causal ? n : 2 * n - 1);
  NamedMatrix all = named_matrix("bias of each head by distance", by_distance);
  for (Index h = 0; h < s.heads(); ++h) {
    const Matrix& of = s.stages.head(s.choice.site, s.choice.layer, to_int(h)).relative_bias;
    for (Index c = 0; c < by_distance.cols(); ++c) {
      const Index j = std::max<Index>(c - n + 1, 0);  // the key at distance c − n + 1
      by_distance(h, c) = of(j - (c - n + 1), j);
    }
  }
  all.values.assign(by_distance.data(), by_distance.data() + by_distance.size());
  for (Index c = 0; c < by_distance.cols(); ++c) {
    all.column_tokens.push_back(fmt::format("{:+}", c - n + 1));
  }
  all.column_tokens[to_size(n) - 1] = "0";
  all.marked_row = s.choice.head;
  step.matrices.push_back(std::move(all));
  for (Index j = 0; j < (causal ? q + 1 : n); ++j) {
    step.lines.push_back(
        fmt::format("{}, at distance {}: {} + {} = {}", readable(at(s.keys().tokens, j)), j - q,
                    number(static_cast<double>(head.scores(q, j))),
                    number(static_cast<double>(head.relative_bias(q, j))),
                    number(static_cast<double>(head.scores(q, j) + head.relative_bias(q, j)))));
  }
  return step;
}

ExplanationStep mask_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  ExplanationStep step;
  step.id = "masked";
  step.title = "Words that must not be seen are masked";
  const bool biased = head.relative_bias.size() > 0;
  step.formula = biased ? "masked = biased + mask" : "masked = scaled + mask";
  step.shape = shape_of(head.mask.rows(), head.mask.cols());
  const bool causal = s.choice.site == AttentionSite::decoder_self;
  step.why = causal ? "−∞ right of the diagonal: a word must not look at words that come after it, "
                      "because they do not exist yet when it is produced. e^−∞ is exactly 0."
                    : describe_mask(head.mask);
  if (causal && hides_earlier(head.mask)) {
    step.why += " The pattern of this attention also leaves out earlier words.";
  }
  step.matrices.push_back(s.query_by_key(named_matrix("mask", head.mask)));
  step.matrices.push_back(s.query_by_key(named_matrix("masked", head.masked())));
  return step;
}

ExplanationStep softmax_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Index q = s.choice.query;
  ExplanationStep step;
  step.id = "weights";
  step.title = "Softmax makes weights";
  step.formula = "weights[i, j] = exp(masked[i, j] − max_i) / Σ_k exp(masked[i, k] − max_i)";
  step.latex =
      "\\text{weights}_{ij} = \\frac{\\exp(\\text{masked}_{ij} - \\max_i)}"
      "{\\sum_k \\exp(\\text{masked}_{ik} - \\max_i)}";
  step.shape = shape_of(head.weights.rows(), head.weights.cols());
  step.why =
      "Each row becomes shares of attention, which are positive and sum to 1. This is the map that "
      "the pictures show.";
  step.matrices.push_back(s.query_by_key(named_matrix("weights", head.weights)));
  const RowVector masked = head.masked().row(q);
  const float top = masked.maxCoeff();
  double total = 0, sum = 0;
  for (Index j = 0; j < masked.size(); ++j) total += std::exp(static_cast<double>(masked[j] - top));
  const auto own = static_cast<double>(head.non_token_weights.of(q));
  total /= 1 - own;
  for (Index j = 0; j < masked.size(); ++j) {
    sum += static_cast<double>(head.weights(q, j));
    step.lines.push_back(
        fmt::format("{}: exp({} − {}) = {}, / {} = {}", readable(at(s.keys().tokens, j)),
                    number(static_cast<double>(masked[j])), number(static_cast<double>(top)),
                    number(std::exp(static_cast<double>(masked[j] - top))), number(total),
                    number(static_cast<double>(head.weights(q, j)))));
  }
  if (own > 0) {
    step.lines.push_back(
        fmt::format("{}, which are not words: {}", head.non_token_weights.keys->name, number(own)));
  }
  step.lines.push_back("sum of the row: " + number(sum + own));
  return step;
}

ExplanationStep weighted_sum_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Index q = s.choice.query;
  ExplanationStep step;
  step.id = "output";
  step.title = "The weighted mean of the values";
  step.formula = "head = weights · V";
  step.shape = fmt::format("{} · {} = {}", shape_of(head.weights.rows(), head.weights.cols()),
                           shape_of(head.value.rows(), head.value.cols()),
                           shape_of(head.output.rows(), head.output.cols()));
  step.why =
      "What each token takes home: the values of the tokens that it looked at, weighted by their "
      "shares.";
  step.matrices.push_back(
      s.by_query(named_matrix(fmt::format("head {}", s.choice.head), head.output)));
  if (head.has_own_projections(q) || head.non_token_weights.of(q) > 0) {
    step.lines.push_back(head.has_own_projections(q)
                             ? describe_global_projections(s)
                             : fmt::format("The values of {}, which are not shown, are added with "
                                           "their weights.",
                                           head.non_token_weights.keys->name));
    return step;
  }
  step.lines.push_back(
      fmt::format("column {} of {}: {}", s.begin(), readable_query(s),
                  sum_of_products(head.weights.row(q), head.value.col(0).transpose(), 1 << 20,
                                  static_cast<double>(head.output(q, 0)))));
  return step;
}

namespace {

/// Throws InputError if the shown values of a head do not account for its whole row.
void require_whole_row(const HeadActivations& head, Index q) {
  if (head.has_own_projections(q)) {
    throw InputError(
        "query {} is a global token, whose query, keys and values come from separate projections "
        "that are not shown; explain another query",
        q);
  }
  if (head.non_token_weights.of(q) > 0) {
    throw InputError(
        "the rows of this head also look at {}, whose keys and values are not shown; a short "
        "explanation would not add up",
        head.non_token_weights.keys->description);
  }
}

}  // namespace

ExplanationStep single_query_step(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const Index q = s.choice.query, k = best_key(s);
  require_whole_row(head, q);
  const Index shown = s.head_dim() <= kBoardValues ? s.head_dim() : kBoardFirst;
  const RowVector raw = raw_scores(head).row(q), x = head.masked().row(q);
  const float top = x.maxCoeff();
  const bool biased = head.relative_bias.size() > 0;
  const Index first = biased ? 5 : 4;  // first column of the values
  Matrix board(x.size(), first + shown);
  double total = 0;
  for (Index j = 0; j < x.size(); ++j) {
    const double e = std::exp(static_cast<double>(x[j] - top));
    total += e;
    board(j, 0) = raw[j];
    if (biased) board(j, 1) = head.relative_bias(q, j);
    board.row(j).segment(first - 3, 3) << x[j], static_cast<float>(e), head.weights(q, j);
    board.row(j).tail(shown) = head.value.row(j).head(shown);
  }
  ExplanationStep step;
  step.id = "board";
  const std::string divided = s.config().scale_attention ? fmt::format(" / √{}", s.head_dim()) : "";
  const bool causal = s.choice.site == AttentionSite::decoder_self;
  step.formula =
      fmt::format("x = q · k{}{}{},  e = exp(x − max),  weight = e / Σ e,  head = Σ weight · v",
                  divided, biased ? " + bias" : "", causal ? " + mask" : "");
  step.latex = fmt::format(
      "x = \\frac{{q \\cdot k}}{{{}}}{}{}, \\quad e = \\exp(x - \\max x), \\quad w = "
      "\\frac{{e}}{{\\sum e}}, \\quad \\text{{head}} = \\sum w \\cdot v",
      s.config().scale_attention ? fmt::format("\\sqrt{{{}}}", s.head_dim()) : "1",
      biased ? " + \\text{bias}" : "", causal ? " + \\text{mask}" : "");
  NamedMatrix table = s.by_key(named_matrix(readable_query(s) + " and its keys", board));
  table.listing = true;
  table.ranking_column = to_int(first) - 1;
  table.marked_row = to_int(k);
  table.column_tokens = {"q·k", "x", "e", "weight"};
  if (biased) table.column_tokens.insert(table.column_tokens.begin() + 1, "bias");
  for (Index c = 0; c < shown; ++c) table.column_tokens.push_back(fmt::format("v{}", c));
  step.matrices.push_back(std::move(table));
  const std::string key = readable(at(s.keys().tokens, k));
  step.lines.push_back(fmt::format(
      "q · k of {}: {}", key,
      sum_of_products(head.query.row(q), head.key.row(k), 1, static_cast<double>(raw[k]))));
  step.lines.push_back(fmt::format("weight of {}: {} / {} = {}", key,
                                   number(static_cast<double>(board(k, first - 2))), number(total),
                                   number(static_cast<double>(head.weights(q, k)))));
  step.lines.push_back(fmt::format(
      "head, v0: {}", sum_of_products(head.weights.row(q), head.value.col(0).transpose(), 3,
                                      static_cast<double>(head.output(q, 0)))));
  std::string output;
  for (Index c = 0; c < shown; ++c) {
    output += (c == 0 ? "" : ", ") + number(static_cast<double>(head.output(q, c)));
  }
  step.lines.push_back(fmt::format("head = ({}{})", output, shown < s.head_dim() ? ", …" : ""));
  return step;
}

}  // namespace attn
