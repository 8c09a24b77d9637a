#include "service/why/why_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Returns a token without its word-boundary character.
std::string readable(const std::string& token) {
  constexpr std::string_view mark = "▁";
  return token.starts_with(mark) && token.size() > mark.size() ? token.substr(mark.size()) : token;
}

std::vector<std::string> readable(const std::vector<std::string>& tokens) {
  std::vector<std::string> texts;
  for (const std::string& token : tokens) texts.push_back(readable(token));
  return texts;
}

/// Returns the steps that write the words in question.
std::vector<int> steps_of(const WordReceipts& words) {
  std::vector<int> steps;
  for (const WordReceipt& each : words.words) {
    for (int t = each.word.first; t < each.word.first + each.word.count; ++t) steps.push_back(t);
  }
  return steps;
}

std::string signed_number(double value, int digits) {
  const std::string number = fmt::format("{:.{}f}", std::abs(value), digits);
  const bool zero = number.find_first_not_of("0.") == number.npos;
  return (value < 0 && !zero ? "−" : "") + number;
}

/// Numbers with the tokens they belong to: those of the source, then those of the prefix.
struct NamedValues {
  std::vector<std::string> names;
  std::vector<double> values;
};

/// Returns "group 45, The 10, went 3": the values that are largest in magnitude, as percentages of
/// `whole`.
std::string largest_shares(const NamedValues& named, double whole, int top) {
  std::vector<std::size_t> order(named.values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::abs(named.values[a]) > std::abs(named.values[b]);
  });
  order.resize(std::min(order.size(), to_size(std::max(top, 1))));
  std::string text;
  for (const std::size_t i : order) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", named.names[i],
                        signed_number(whole == 0 ? 0 : 100 * named.values[i] / whole, 0));
  }
  return text;
}

/// One row for each state of the decoder, one column for each step.
Table lens_table(const Why& why, const std::vector<int>& steps) {
  Table table{"Logit lens: what each state of the decoder would have written", {{"state"}}, {}, {}};
  for (const int t : steps) table.columns.push_back({readable(at(why.target.tokens, t))});
  const std::vector<Alternatives>& states = why.logit_lens->states;
  for (std::size_t l = 0; l < states.size(); ++l) {
    std::vector<std::string>& row =
        table.rows.emplace_back(1, l == 0 ? "embedding" : fmt::format("layer {}", l - 1));
    for (const int t : steps) {
      row.push_back(fmt::format("{} {:.0f}", readable(at(states[l].tokens, t * states[l].count)),
                                100 * std::exp(at(states[l].log_probs, t * states[l].count))));
    }
  }
  table.notes = {"Numbers are probabilities in percent."};
  return table;
}

/// Returns one row of entries over the source and the prefix; the prefix ends with step t.
NamedValues both_sides(const Why& why, int t, std::span<const float> source,
                       std::span<const float> prefix) {
  NamedValues named{readable(why.source.tokens), {source.begin(), source.end()}};
  for (int i = 0; i <= t; ++i) {
    named.names.push_back(readable(at(why.decoder_input.tokens, i)));
    named.values.push_back(at(prefix, i));
  }
  return named;
}

double sum_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Table contributions_table(const Why& why, const std::vector<int>& steps, int top) {
  Table table{"Contributions (ALTI+): what flowed into each step, in percent",
              {{"written"}, {"source", true}, {"prefix", true}, {"most from"}},
              {},
              {}};
  const NdArray& total = why.contributions->alti_plus_total;
  const std::size_t sources = why.source.tokens.size();
  for (const int t : steps) {
    const std::span<const float> row = total.row(t);
    const auto source = row.first(sources), prefix = row.subspan(sources);
    table.rows.push_back({readable(at(why.target.tokens, t)),
                          signed_number(100 * sum_of(source), 0),
                          signed_number(100 * sum_of(prefix), 0),
                          largest_shares(both_sides(why, t, source, prefix), 1, top)});
  }
  return table;
}

std::span<const float> row_of(const Matrix& matrix, Index row) {
  return {matrix.data() + row * matrix.cols(), to_size(matrix.cols())};
}

/// Gradients: the shares of the entries' sum. They have a row for each step.
Table gradients_table(const Why& why, const std::vector<int>& steps, int top) {
  Table table{"Gradient × input: the length of each token's entry, in percent of all",
              {{"written"}, {"most from"}},
              {},
              {}};
  const EmbeddingGradients& gradients = why.gradients->log_prob;
  for (const int t : steps) {
    const NamedValues named =
        both_sides(why, t, row_of(gradients.source_l2, t), row_of(gradients.target_l2, t));
    const double all = std::accumulate(named.values.begin(), named.values.end(), 0.0);
    table.rows.push_back({readable(at(why.target.tokens, t)), largest_shares(named, all, top)});
  }
  return table;
}

/// Integrated gradients: signed shares of the difference between both ends.
Table integrated_table(const Why& why, const std::vector<int>& steps, int top) {
  Table table{"Integrated gradients: shares of the rise of log p over a sentence of <unk>",
              {{"written"}, {"rise", true}, {"gap %", true}, {"most from"}},
              {},
              {}};
  const IntegratedGradients& gradients = why.integrated->log_prob;
  for (const int t : steps) {
    const NamedValues named =
        both_sides(why, t, row_of(gradients.source_dot, t), row_of(gradients.target_dot, t));
    const double rise = at(gradients.differences, t);
    table.rows.push_back({readable(at(why.target.tokens, t)), signed_number(rise, 2),
                          signed_number(100 * gradients.gap(to_size(t)), 1),
                          largest_shares(named, rise, top)});
  }
  table.notes = {"The gap is the part of the increase that the entries do not explain."};
  return table;
}

/// A grid of recovered shares.
Table grid(std::string title, std::vector<std::string> columns, const Matrix& shares,
           const char* row_name) {
  Table table{std::move(title), {{""}}, {}, {}};
  for (std::string& column : columns) table.columns.push_back({std::move(column), true});
  for (Index r = 0; r < shares.rows(); ++r) {
    std::vector<std::string>& row =
        table.rows.emplace_back(1, fmt::format(fmt::runtime(row_name), r));
    for (const float share : row_of(shares, r)) row.push_back(signed_number(share, 2));
  }
  return table;
}

void add_patching(const Why& why, std::vector<Table>& tables) {
  const PatchingGrids& grids = why.patching->grids;
  std::vector<std::string> source, read, heads;
  for (const auto& [clean, corrupt] : grids.positions) {
    source.push_back(readable(at(why.source.tokens, clean)));
  }
  for (Index t = 0; t < grids.decoder.cols(); ++t) {
    read.push_back(readable(at(why.decoder_input.tokens, t)));
  }
  for (Index h = 0; h < grids.cross.cols(); ++h) heads.push_back(fmt::format("head {}", h));
  const std::string word = readable(at(why.target.tokens, why.patching->request.step));
  tables.push_back(grid(fmt::format("Patching: the share of “{}” over “{}” that one activation "
                                    "brings back; encoder",
                                    word, readable(why.patching->foil)),
                        std::move(source), grids.encoder, "after layers: {}"));
  tables.push_back(grid("Decoder", std::move(read), grids.decoder, "after layers: {}"));
  tables.push_back(grid("Cross-attention", std::move(heads), grids.cross, "layer {}"));
  tables.back().notes = {fmt::format(
      "The logits differ by {} with the sentence, and by {} with the corrupted one. 1 means that "
      "the whole difference comes back.",
      signed_number(grids.clean_logit_diff, 2), signed_number(grids.corrupt_logit_diff, 2))};
}

}  // namespace

std::vector<Table> why_tables(const WhyAnswer& answer, int top) {
  const Why& why = answer.why;
  const std::vector<int> steps = steps_of(answer.words);
  std::vector<Table> tables;
  if (why.logit_lens) tables.push_back(lens_table(why, steps));
  if (why.contributions) tables.push_back(contributions_table(why, steps, top));
  if (why.gradients) tables.push_back(gradients_table(why, steps, top));
  if (why.integrated) tables.push_back(integrated_table(why, steps, top));
  if (why.patching) add_patching(why, tables);
  return tables;
}

}  // namespace attn
