// Why the model wrote each word of a translation: one request for several methods, and their
// results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/attention_record.h"
#include "why/contributions.h"
#include "why/gradients.h"
#include "why/lens.h"
#include "why/occlusion.h"
#include "why/patching.h"
#include "why/receipt.h"
#include "why/trace.h"

namespace attn {

/// The methods to compute.
struct WhyMethods {
  bool receipt = false;
  bool occlusion = false;
  bool contributions = false;
  bool lens = false;
  bool gradients = false;
  bool integrated = false;
  bool patch = false;  ///< needs a corrupted source
  bool all = false;    ///< "all" was requested: what this model does not have is left out
};

/// Parses a list such as "receipt,occlusion", or "all", which is all but "patch". Throws UsageError
/// naming an unknown method and listing the valid ones.
WhyMethods parse_why_methods(std::string_view list);

/// The request for an explanation. The methods read the trace; only the receipt and contributions
/// do not run the model again.
struct WhyRequest {
  const Trace& trace;
  WhyMethods methods = {};
  /// A foil for each step; −1 or an empty list: the runner-up.
  std::vector<int> foils = {};
  /// Tokens from this id on have no text and are never a runner-up; 0: all have one.
  int named_tokens = 0;
  KeptGradients* gradients = nullptr;  ///< null: the weights are copied for this request alone
  int unk = 0;               ///< replaces occluded tokens, and is the baseline of integration
  DecodeConfig decode = {};  ///< for DecoderLens
  /// For patching: the ids of a corrupted source, and the step to compare; −1: the first step at
  /// which the corrupted source would write another token.
  std::vector<int> corrupt = {};
  int patch_step = -1;
  /// Return the texts of tokens and of whole translations.
  std::function<std::string(int)> source_token = nullptr;
  std::function<std::string(int)> target_token = nullptr;
  std::function<std::string(const std::vector<int>&)> target_text = nullptr;
};

/// A text per encoder layer.
struct DecoderLensResult {
  std::vector<TokenSequence> tokens;  ///< [L_e+1]
  std::vector<std::string> texts;     ///< [L_e+1]
  NdArray log_probs;                  ///< [L_e+1, T]
};

/// Gradients of log p(word), and of log p(word) − log p(foil).
template <typename Gradients>
struct GradientPair {
  Gradients log_prob;
  Gradients contrast;
};

/// The result of patching: the activations that were replaced, and the restored shares.
struct PatchingResult {
  PatchingRequest request;
  PatchingGrids grids;
  std::string foil;                      ///< the text of the request's foil
  std::vector<int> corrupt_target = {};  ///< the corrupted source's translation; left to the caller
};

/// The answers. A method that was not requested has no result. S source tokens, T steps.
struct Why {
  ModelSummary model;  ///< left to the caller, like the texts
  std::string source_text;
  std::string target_text;
  TokenSequence source;         ///< S
  TokenSequence target;         ///< T written tokens
  TokenSequence decoder_input;  ///< T
  NdArray logits;               ///< [T] of the written tokens
  NdArray log_probs;            ///< [T]
  TokenSequence foil;           ///< T: the given foils, else the runners-up
  NdArray foil_logits;          ///< [T]

  std::optional<Receipt> receipt;           ///< of the word's logit
  std::optional<Receipt> contrast_receipt;  ///< of logit(word) − logit(foil)
  std::optional<Contributions> contributions;
  std::optional<Occlusion> occlusion;  ///< a column for each source token but a last </s>
  std::optional<LogitLens> logit_lens;
  std::optional<DecoderLensResult> decoder_lens;
  std::optional<GradientPair<EmbeddingGradients>> gradients;
  std::optional<GradientPair<IntegratedGradients>> integrated;
  std::optional<PatchingResult> patching;
};

/// Explains every written token. Throws InputError if a foil equals the written token or is outside
/// the vocabulary, or if a method cannot be computed exactly for this model, naming the part.
Why explain_words(const Transformer& model, const WhyRequest& request);

/// Returns the bytes that gradients work in, part of why_bytes(); 0 without a method that needs
/// them. Saturates at 2⁶⁴ − 1.
std::uint64_t gradient_bytes(const ModelConfig& config, const WhyMethods& methods,
                             std::size_t source, std::size_t steps);

/// Returns the bytes that trace and results need at most; saturates at 2⁶⁴ − 1.
std::uint64_t why_bytes(const ModelConfig& config, const WhyMethods& methods, std::size_t source,
                        std::size_t steps);

}  // namespace attn
