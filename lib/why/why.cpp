#include "why/why.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "translate/recorder.h"
#include "why/gradient_batches.h"
#include "why/logit_rows.h"

namespace attn {
namespace {

struct MethodName {
  std::string_view name;
  bool WhyMethods::*method;
};

constexpr std::array kMethods{
    MethodName{"receipt", &WhyMethods::receipt},
    MethodName{"occlusion", &WhyMethods::occlusion},
    MethodName{"contributions", &WhyMethods::contributions},
    MethodName{"gradients", &WhyMethods::gradients},
    MethodName{"integrated", &WhyMethods::integrated},
    MethodName{"lens", &WhyMethods::lens},
    MethodName{"patch", &WhyMethods::patch},
};

TokenSequence named(const std::vector<int>& ids, const std::function<std::string(int)>& name) {
  TokenSequence sequence{{}, ids};
  for (const int id : ids) sequence.tokens.push_back(name ? name(id) : std::to_string(id));
  return sequence;
}

/// Returns the likeliest token of a row of logits other than `written` (−1: of all tokens).
int runner_up(std::span<const float> logits, int written, int named_tokens) {
  const std::size_t count =
      named_tokens > 0 ? std::min(logits.size(), to_size(named_tokens)) : logits.size();
  int best = written == 0 ? 1 : 0;
  for (int id = 0; id < to_int(count); ++id) {
    if (id != written && at(logits, id) > at(logits, best)) best = id;
  }
  return best;
}

void check_foil(const Transformer& model, int foil, int written, Index step) {
  const int vocabulary = model.config().decoder_vocab_size;
  if (foil < 0 || foil >= vocabulary) {
    throw InputError("foil {} at step {}: the vocabulary has tokens 0 to {}", foil, step,
                     vocabulary - 1);
  }
  if (foil == written) {
    throw InputError("foil {} at step {} is the written token; give another one", foil, step);
  }
}

/// Fills in the logits of written tokens and foils.
void add_logits(const Transformer& model, const WhyRequest& request, Why& why) {
  const Trace& trace = request.trace;
  const Index T = std::ssize(trace.written);
  for (NdArray* each : {&why.logits, &why.log_probs, &why.foil_logits}) *each = NdArray({T});
  std::vector<int> foils;
  for_logit_rows(model, trace.decoder.output, [&](Index first, const Matrix& logits) {
    const auto written = std::span(trace.written).subspan(to_size(first), to_size(logits.rows()));
    const std::vector<float> log_probs = log_probabilities(logits, written, model.name());
    for (Index r = 0; r < logits.rows(); ++r) {
      const Index t = first + r;
      const int word = at(written, r);
      const std::span row{logits.row(r).data(), to_size(logits.cols())};
      int foil = request.foils.empty() ? -1 : at(request.foils, t);
      if (foil == -1) foil = runner_up(row, word, request.named_tokens);
      check_foil(model, foil, word, t);
      foils.push_back(foil);
      why.logits(t) = at(row, word);
      why.log_probs(t) = at(log_probs, r);
      why.foil_logits(t) = at(row, foil);
    }
  });
  why.foil = named(foils, request.target_token);
}

void add_lenses(const Transformer& model, const WhyRequest& request, Why& why) {
  why.logit_lens = logit_lens(model, request.trace);
  for (Alternatives& state : why.logit_lens->states) {
    state.tokens = named(state.ids, request.target_token).tokens;
  }
  DecoderLens lens = decoder_lens(model, request.trace, request.decode);
  DecoderLensResult& result = why.decoder_lens.emplace();
  result.log_probs = std::move(lens.log_probs);
  for (const std::vector<int>& ids : lens.ids) {
    result.tokens.push_back(named(ids, request.target_token));
    result.texts.push_back(request.target_text ? request.target_text(ids) : "");
  }
}

void add_gradients(const Transformer& model, const WhyRequest& request, Why& why) {
  const Trace& trace = request.trace;
  const WordScores word{trace.source, trace.decoder_input, trace.written};
  WordScores contrast = word;
  contrast.foils = why.foil.ids;
  const std::array scores{word, contrast};
  KeptGradients own;
  KeptGradients& kept = request.gradients != nullptr ? *request.gradients : own;
  kept.with(model, [&](WordGradients& gradients) {
    if (request.methods.gradients) {
      auto found = gradients.gradients(std::span(scores));
      why.gradients = {std::move(found[0]), std::move(found[1])};
    }
    if (request.methods.integrated) {
      auto found = gradients.integrated(std::span(scores), {.unk = request.unk});
      why.integrated = {std::move(found[0]), std::move(found[1])};
    }
  });
}

/// Returns what the corrupted source would write at each step of the given translation.
std::vector<int> corrupted_choices(const Transformer& model, const WhyRequest& request) {
  const Matrix hidden = model.decode(one_sentence(request.trace.decoder_input),
                                     model.encode(one_sentence(request.corrupt)));
  std::vector<int> choices;
  for_logit_rows(model, hidden, [&](Index /*first*/, const Matrix& logits) {
    for (Index r = 0; r < logits.rows(); ++r) {
      choices.push_back(
          runner_up({logits.row(r).data(), to_size(logits.cols())}, -1, request.named_tokens));
    }
  });
  return choices;
}

/// Compares the written token with the one that the model would write for the corrupted source. If
/// both are the same at the requested step, compares it with the foil instead.
void add_patching(const Transformer& model, const WhyRequest& request, Why& why) {
  const Trace& trace = request.trace;
  const std::vector<int> choices = corrupted_choices(model, request);
  Index step = request.patch_step;
  if (step < 0) {
    const auto [written, choice] =
        std::mismatch(trace.written.begin(), trace.written.end(), choices.begin(), choices.end());
    if (written == trace.written.end()) {
      throw InputError(
          "with the corrupted source, the model would write the same tokens; swap a word that "
          "changes the translation");
    }
    step = written - trace.written.begin();
  }
  const int word = at(trace.written, step);
  const bool asked = !request.foils.empty() && at(request.foils, step) != -1;
  int foil = at(choices, step);
  if (asked || foil == word) foil = at(why.foil.ids, step);
  PatchingRequest patch{trace.source, request.corrupt, trace.decoder_input, step, word, foil};
  PatchingGrids grids = patch_activations(model, patch);
  std::string foil_text = named({foil}, request.target_token).tokens.front();
  why.patching = {std::move(patch), std::move(grids), std::move(foil_text)};
}

}  // namespace

WhyMethods parse_why_methods(std::string_view list) {
  WhyMethods methods;
  for (const std::string_view part : split_at(list, ',')) {
    bool known = false;
    for (const MethodName& each : kMethods) {
      const bool in_all = part == "all" && each.method != &WhyMethods::patch;
      if (part != each.name && !in_all) continue;
      methods.*each.method = true;
      known = true;
    }
    methods.all = methods.all || part == "all";
    if (known) continue;
    std::vector<std::string> names{"all"};
    for (const MethodName& each : kMethods) names.emplace_back(each.name);
    throw UsageError("{}: no such method; use {}, with commas between several",
                     excerpt(std::string(part)), list_words(names, "or"));
  }
  return methods;
}

Why explain_words(const Transformer& model, const WhyRequest& request) {
  const Trace& trace = request.trace;
  Why why;
  why.source = named(trace.source, request.source_token);
  why.target = named(trace.written, request.target_token);
  why.decoder_input = named(trace.decoder_input, request.target_token);
  if (request.target_text) why.target_text = request.target_text(trace.written);
  add_logits(model, request, why);
  const WhyMethods& methods = request.methods;
  if (methods.receipt) {
    why.receipt = make_receipt(model, trace, {trace.written});
    why.contrast_receipt = make_receipt(model, trace, {trace.written, why.foil.ids});
  }
  if (methods.contributions) why.contributions = make_contributions(model, trace);
  if (methods.occlusion) {
    const auto spans = single_tokens(trace.source, model.config().eos_token_id);
    why.occlusion = occlude(model, trace, spans, request.unk);
  }
  if (methods.lens) add_lenses(model, request, why);
  if (methods.gradients || methods.integrated) add_gradients(model, request, why);
  if (methods.patch) add_patching(model, request, why);
  return why;
}

std::uint64_t gradient_bytes(const ModelConfig& config, const WhyMethods& methods,
                             std::size_t source, std::size_t steps) {
  if (!methods.gradients && !methods.integrated) return 0;
  // A step has an example for its word and one for its foil; integrated gradients fill batches.
  const std::size_t examples =
      methods.integrated ? std::numeric_limits<std::size_t>::max() : 2 * steps;
  return checked_add(GradientBatches::bytes(config),
                     GradientBatches::batch_bytes(config, source, steps, examples))
      .value_or(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t why_bytes(const ModelConfig& config, const WhyMethods& methods, std::size_t source,
                        std::size_t steps) {
  const auto s = static_cast<double>(source), t = static_cast<double>(steps);
  const double heads = static_cast<double>(config.decoder_layers) * config.decoder_heads;
  // Occlusion scores a batch of sentences at once.
  const double rows = methods.occlusion ? t * 2 * s : t;
  double numbers = 3 * std::min(static_cast<double>(kMostLogits), rows * config.decoder_vocab_size);
  if (methods.receipt) numbers += 2 * heads * t * (t + s);
  if (methods.contributions) {
    const double encoder = static_cast<double>(config.encoder_layers) * (config.encoder_heads + 3);
    const double decoder = static_cast<double>(config.decoder_layers) * (config.decoder_heads + 5);
    numbers += encoder * s * s + decoder * t * (t + s) +
               2.0 * (config.encoder_heads + 1) * (s + t) * config.d_model;
  }
  const double bytes =
      numbers * sizeof(float) + static_cast<double>(gradient_bytes(config, methods, source, steps));
  const std::uint64_t trace = trace_bytes(config, source, steps);
  constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  if (bytes > 9e18 || trace == kUnlimited) return kUnlimited;
  return trace + static_cast<std::uint64_t>(bytes);
}

}  // namespace attn
