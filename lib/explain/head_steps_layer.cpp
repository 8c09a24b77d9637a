#include <fmt/format.h>

#include "base/at.h"
#include "explain/head_steps.h"
#include "explain/matrices.h"
#include "model/layers.h"

namespace attn {

NamedMatrix mark_head(const ExplanationContext& s, NamedMatrix matrix, bool queries, bool memory) {
  const auto mark = [&](Index first) {
    matrix.marked_columns.push_back({to_int(first), to_int(first + s.head_dim())});
  };
  if (queries) mark(s.begin());
  const Index keys = (queries ? s.inner() : 0) + s.key_begin();
  if (memory) {
    mark(keys);
    mark(keys + s.key_columns());
  }
  return matrix;
}

std::string quoted(const std::string& token) {
  return "“" + token + "”";
}

std::string readable(const std::string& token) {
  constexpr std::string_view mark = "▁";
  const bool marked = token.size() > mark.size() && token.starts_with(mark);
  return quoted(marked ? token.substr(mark.size()) : token);
}

std::string readable_query(const ExplanationContext& s) {
  std::string reads = readable(at(s.queries().tokens, s.choice.query));
  const auto row = to_size(s.choice.query);
  if (s.in_encoder() || row >= s.hypothesis().produced.tokens.size()) return reads;
  return reads + " → " + readable(s.hypothesis().produced.tokens[row]);
}

ExplanationStep tokens_step(const ExplanationContext& s) {
  ExplanationStep step{"tokens", "Words become tokens, tokens become numbers", "", "", "", {}, {}};
  step.why =
      "A model knows a fixed list of pieces; a sentence is their row numbers in one table. The end "
      "symbol </s> closes the source, and the decoder starts from a symbol of its own.";
  const auto list = [&](const char* name, const TokenSequence& sequence) {
    std::string line = std::string(name) + ":";
    for (std::size_t i = 0; i < sequence.ids.size(); ++i) {
      line += fmt::format(" {}={}", quoted(sequence.tokens[i]), sequence.ids[i]);
    }
    step.lines.push_back(line);
  };
  list("source", s.record.source);
  if (!s.in_encoder()) list("decoder input", s.hypothesis().decoder_input);
  return step;
}

/// Explains the embedding of one stack: table row, scaled, plus position.
ExplanationStep embedding_step(const ExplanationContext& s, bool encoder) {
  const StackParameters& ends =
      encoder ? s.model.parameters().encoder : s.model.parameters().decoder;
  const TokenSequence& sequence = encoder ? s.record.source : s.hypothesis().decoder_input;
  const auto n = std::ssize(sequence.ids);
  const auto [words, places, scale, token_without_position] =
      embedding_tables(s.model.config(), ends);
  const bool placed = s.config().absolute_positions;
  Matrix table(n, s.d()), positions(n, s.d());
  for (Index t = 0; t < n; ++t) {
    for (Index j = 0; j < s.d(); ++j) {
      const int id = at(sequence.ids, t);
      table(t, j) = words.at(id, j);
      if (placed) positions(t, j) = id == token_without_position ? 0.0F : places.at(t, j);
    }
  }
  const AttentionSite stack = encoder ? AttentionSite::encoder_self : AttentionSite::decoder_self;
  const std::string side = encoder ? "source" : "decoder input";
  ExplanationStep step;
  step.id = encoder ? "embedding" : "decoder_embedding";
  step.title = "Each token of the " + side + " becomes a vector";
  step.formula = !placed ? "x = E[id]"
                 : s.config().scale_embedding
                     ? fmt::format("x = E[id] · √d_model + position,  √{} = {}", s.d(),
                                   number(static_cast<double>(scale)))
                     : "x = E[id] + position";
  if (s.config().normalize_embedding) step.formula += ",  then norm(x)";
  step.shape = fmt::format("E {}, x {}", shape_of(ends.embedding.rows, s.d()), shape_of(n, s.d()));
  step.why = fmt::format(
      "Attention by itself knows no order: the position{} distinguishes the same word in two "
      "places.{}",
      !s.config().static_positions ? ", learned as the words are,"
                                   : ", sines and cosines of growing wavelength,",
      s.config().scale_embedding ? " The factor keeps the position from drowning the word." : "");
  if (!placed) {
    step.why = s.config().relative.enabled() || s.config().rotary
                   ? "No position is added: only the heads know where a token is, by its distance "
                     "from the token that looks."
                   : "No position is added: an encoder then cannot tell the order of its words, "
                     "and a decoder only by how many it may look at.";
  }
  const auto add = [&](const char* name, const Matrix& rows) {
    NamedMatrix matrix = named_matrix(name, rows);
    matrix.row_tokens = sequence.tokens;
    step.matrices.push_back(std::move(matrix));
  };
  add("E[id]", table);
  if (placed) add("position", positions);
  add("x", s.stages.at(stack, 0, Stage::embedded));
  return step;
}

ExplanationStep input_step(const ExplanationContext& s) {
  ExplanationStep step;
  step.id = "input";
  step.title = "What this layer reads";
  step.shape = shape_of(s.at(Stage::block_input).rows(), s.d());
  const bool first = s.choice.layer == 0 && !s.cross();
  step.formula = first ? "X = x" : "X = the output of the previous block";
  step.why = first ? "The first layer reads the embeddings."
                   : "Every block adds to the row of its token, so the row also contains what "
                     "earlier blocks found out about the token.";
  step.matrices.push_back(s.by_query(named_matrix("X", s.at(Stage::block_input))));
  if (s.config().normalize_before) {
    step.formula += ",  N = norm(X)";
    step.matrices.push_back(named_matrix("norm weight", s.norm().weight));
    if (s.norm().kind == NormType::rms) {
      step.formula = step.formula.substr(0, step.formula.rfind("norm(X)")) +
                     "X / √(mean of X² + ε) · weight, row by row";
    } else {
      step.matrices.push_back(named_matrix("norm bias", s.norm().bias));
    }
    step.matrices.push_back(s.by_query(named_matrix("N", s.at(Stage::normed_input))));
  }
  if (s.cross()) {
    step.formula += ",  M = the encoder's output";
    step.why += " Keys and values come from somewhere else: from the encoder's last layer, M.";
    step.shape += fmt::format(", M {}", shape_of(std::ssize(s.record.source.ids), s.d()));
    step.matrices.push_back(s.by_key(
        named_matrix("M", s.stages.at(AttentionSite::encoder_self, s.config().encoder_layers - 1,
                                      Stage::stack_output))));
  }
  return step;
}

namespace {

std::string why_of_projection(const ExplanationContext& s) {
  const std::string says =
      "A query says what a token looks for, a key what it offers, and a value what it hands over. ";
  if (s.key_heads() < s.heads()) {
    return says +
           fmt::format(
               "Head {} owns the columns {} to {} of the queries. The {} heads share {} of keys "
               "and values: this head and its neighbours read the columns {} to {} of both.",
               s.choice.head, s.begin(), s.end() - 1, s.heads(), s.key_heads(), s.key_begin(),
               s.key_end() - 1);
  }
  return says + fmt::format(
                    "Head {} owns the columns {} to {} of each: {} heads are a way of "
                    "reading one matrix, not {} matrices.",
                    s.choice.head, s.begin(), s.end() - 1, s.heads(), s.heads());
}

}  // namespace

/// Explains the matrix multiplication that computes queries, keys and values of all heads at once.
ExplanationStep fused_projection_step(const ExplanationContext& s) {
  const Index d = s.d(), k = s.head_dim(), heads = s.heads(), inner = s.inner();
  const Index all = inner + 2 * s.key_columns(), memory = 2 * s.key_columns();
  const auto n = std::ssize(s.queries().ids);
  const auto m = std::ssize(s.keys().ids);
  const char* in = s.config().normalize_before ? "N" : "X";
  ExplanationStep step;
  step.id = "projection";
  const bool biases = s.attention().value.bias.exists();
  step.title = "One matrix multiplication makes the queries, keys and values of all heads";
  if (s.cross()) {
    step.formula =
        biases ? fmt::format("Q_all = {} · W_q + b_q,  [K | V]_all = M · [W_k | W_v] + [b_k | b_v]",
                             in)
               : fmt::format("Q_all = {} · W_q,  [K | V]_all = M · [W_k | W_v]", in);
    step.shape =
        fmt::format("{} · {} = {},  {} · {} = {}", shape_of(n, d), shape_of(d, inner),
                    shape_of(n, inner), shape_of(m, d), shape_of(d, memory), shape_of(m, memory));
  } else {
    step.formula = fmt::format("[Q | K | V]_all = {} · [W_q | W_k | W_v]{}", in,
                               biases ? " + [b_q | b_k | b_v]" : "");
    step.shape = fmt::format("{} · {} = {}", shape_of(n, d), shape_of(d, all), shape_of(n, all));
  }
  step.why = why_of_projection(s);
  const MultiHeadAttention& attention = s.attention();
  const std::pair<const char*, const Linear*> parts[] = {
      {"q", &attention.query}, {"k", &attention.key}, {"v", &attention.value}};
  for (const auto& [letter, linear] : parts) {
    const bool query = linear == &attention.query;
    const Index begin = query ? s.begin() : s.key_begin(), end = query ? s.end() : s.key_end();
    step.matrices.push_back(named_matrix(fmt::format("W_{} (head {})", letter, s.choice.head),
                                         linear->weight, begin, end));
    if (linear->bias.data != nullptr) {
      step.matrices.push_back(named_matrix(fmt::format("b_{} (head {})", letter, s.choice.head),
                                           linear->bias, begin, end));
    }
  }
  const Matrix& projected = s.at(Stage::projected);
  if (s.cross()) {
    step.matrices.push_back(mark_head(s, s.by_query(named_matrix("Q_all", projected)), true));
    step.matrices.push_back(
        mark_head(s, s.by_key(named_matrix("[K | V]_all", s.at(Stage::memory))), false, true));
  } else {
    step.matrices.push_back(
        mark_head(s, s.by_query(named_matrix("[Q | K | V]_all", projected)), true, true));
  }
  step.lines.push_back(fmt::format("reshape [{}, {}] to [{}, {}, {}] (tokens, heads, head_dim)", n,
                                   inner, n, heads, k));
  step.lines.push_back(
      fmt::format("swap to [{}, {}, {}] (heads, tokens, head_dim): head {} is slice {}", heads, n,
                  k, s.choice.head, s.choice.head));
  const std::string theirs = s.key_heads() == heads ? "the same of theirs"
                                                    : fmt::format("columns {} to {} of theirs",
                                                                  s.key_begin(), s.key_end() - 1);
  step.lines.push_back(fmt::format("Q of head {}: columns {} to {} of Q_all; K and V {}",
                                   s.choice.head, s.begin(), s.end() - 1, theirs));
  return step;
}

ExplanationStep concatenated_heads_step(const ExplanationContext& s) {
  const Matrix& heads = s.at(Stage::heads);
  ExplanationStep step;
  step.id = "heads";
  step.title = "The heads are put side by side";
  step.formula = fmt::format("H = [head 0 | … | head {}]", s.heads() - 1);
  step.shape = fmt::format("{} of {} = {}", s.heads(), shape_of(heads.rows(), s.head_dim()),
                           shape_of(heads.rows(), s.inner()));
  step.why = "Nothing is moved or mixed, because each head wrote into its own columns.";
  step.matrices.push_back(mark_head(s, s.by_query(named_matrix("H", heads)), true));
  return step;
}

ExplanationStep output_projection_step(const ExplanationContext& s) {
  const Linear& linear = s.attention().output;
  const Matrix& attn_output = s.at(Stage::attn_output);
  ExplanationStep step;
  step.id = "mixed";
  step.title = "The output projection mixes the heads";
  step.formula = linear.bias.exists() ? "A = H · W_o + b_o" : "A = H · W_o";
  step.shape = fmt::format("{} · {} = {}", shape_of(attn_output.rows(), s.inner()),
                           shape_of(s.inner(), s.d()), shape_of(attn_output.rows(), s.d()));
  step.why =
      "Here the heads meet for the first time: the result of each is written into all columns.";
  step.matrices.push_back(named_matrix("W_o", linear.weight));
  if (linear.bias.data != nullptr) step.matrices.push_back(named_matrix("b_o", linear.bias));
  step.matrices.push_back(s.by_query(named_matrix("A", attn_output)));
  return step;
}

ExplanationStep residual_step(const ExplanationContext& s) {
  const bool before = s.config().normalize_before;
  ExplanationStep step;
  step.id = "residual";
  step.title =
      before ? "Added to what was there" : "The result is added to the token's row and normalized";
  step.formula =
      before ? "Y = X + A"
             : "R = X + A,  Y = (R − mean) / √(variance + 1e-5) · weight + bias, row by row";
  if (!before) {
    step.latex =
        "R = X + A, \\quad Y = \\frac{R - \\text{mean}}{\\sqrt{\\text{variance} + 10^{-5}}} \\cdot "
        "\\text{weight} + \\text{bias}";
  }
  step.shape = shape_of(s.at(Stage::block_output).rows(), s.d());
  step.why = before ? "The block adds to the token's row and removes nothing; the norm comes "
                      "before the next block."
                    : "The block adds to the token's row and removes nothing. The norm keeps the "
                      "numbers in a range that the next block can work with.";
  if (!before) {
    step.matrices.push_back(s.by_query(named_matrix("R", s.at(Stage::block_sum))));
    step.matrices.push_back(named_matrix("norm weight", s.norm().weight));
    step.matrices.push_back(named_matrix("norm bias", s.norm().bias));
  }
  step.matrices.push_back(s.by_query(named_matrix("Y", s.at(Stage::block_output))));
  return step;
}

}  // namespace attn
