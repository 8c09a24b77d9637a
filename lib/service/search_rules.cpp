// What is asked of a search beside beams and lengths: no more than numbers and their ranges.
#include <fmt/format.h>

#include "base/at.h"
#include "service/field_text.h"
#include "service/search_settings.h"

namespace attn {
namespace {

constexpr WholeField kTopK{"top_k", 0, 1'000'000'000};
constexpr WholeField kSampleSeed{"sample_seed", 0, ~std::uint64_t{0}};
constexpr DecimalField kTemperature{"temperature", 0.001, 1000};
constexpr DecimalField kTopP{"top_p", 0.0001, 1};
constexpr DecimalField kMinP{"min_p", 0, 1};
constexpr DecimalField kTypical{"typical", 0.0001, 1};

void refuse_draws(const AskedNumbers& asked) {
  const auto refuse = [](std::string_view name) {
    refuse_field(Field{name}, " goes with ", Field{"sample"});
  };
  for (const DecimalField& field : {kTemperature, kTopP, kMinP, kTypical}) {
    if (asked.decimal(field)) refuse(field.name);
  }
  for (const WholeField& field : {kTopK, kSampleSeed}) {
    if (asked.whole(field)) refuse(field.name);
  }
}

}  // namespace

DecodeOptions search_rules(const AskedNumbers& asked, bool sample, std::optional<int> beam) {
  const auto count = [&](const WholeField& field) {
    const std::optional<std::uint64_t> number = asked.whole(field);
    return number ? std::optional(to_int(*number)) : std::nullopt;
  };
  const auto decimal = [&](const DecimalField& field) {
    const std::optional<double> number = asked.decimal(field);
    return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
  };
  DecodeOptions d;
  d.no_repeat_ngram_size = count({"no_repeat_ngram", 0, 1000});
  d.encoder_no_repeat_ngram_size = count({"encoder_no_repeat_ngram", 0, 1000});
  d.repetition_penalty = decimal({"repetition_penalty", 0.01, 100});
  d.min_new_tokens = count({"min_length", 0, 1'000'000});
  if (!sample) {
    refuse_draws(asked);
    return d;
  }
  if (beam.value_or(1) != 1) {
    refuse_field(Field{"sample"}, " draws one token at a time; ", Field{"beam"},
                 fmt::format(" {} does not go with it", *beam));
  }
  d.do_sample = true;
  d.temperature = decimal(kTemperature);
  d.top_k = count(kTopK);
  d.top_p = decimal(kTopP);
  d.min_p = decimal(kMinP);
  d.typical_p = decimal(kTypical);
  d.sampling_seed = asked.whole(kSampleSeed);
  return d;
}

}  // namespace attn
