#include "service/model/model_and_tokenizer.h"

#include <tuple>

#include "base/error.h"
#include "config/family.h"
#include "text/tokenizer_trainer.h"

namespace attn {

int tokenizer_vocab_size(const TokenizerConfig& config) {
  return config.vocab_size == 0 ? TokenizerTraining().vocab_size : config.vocab_size;
}

void fit_to_tokenizer(ModelConfig& config, const Tokenizer& tokenizer, const std::string& where) {
  const int source = tokenizer.source_vocab_size();
  const int target = tokenizer.target_vocab_size();
  if (tokenizer.separate_vocabularies() && config.share_embeddings) {
    throw InputError(
        "{}: share_encoder_decoder_embeddings is true, and the tokenizer's "
        "vocabularies are separate; set it to false or use a joint tokenizer",
        where);
  }
  if (config.vocab_size != 0 && config.vocab_size != source) {
    throw InputError("{}: vocab_size is {}, and the tokenizer has {} pieces; leave vocab_size out",
                     where, config.vocab_size, source);
  }
  config.vocab_size = source;
  config.decoder_vocab_size = target;
  const SpecialTokens special = tokenizer.special_tokens();
  config.eos_token_id = special.eos;
  config.pad_token_id = special.pad;
  const ModelFamily& family = family_of(config);
  const bool pad_may_start = special.pad == target - 1 && !family.positions_start_after_pad;
  const bool eos_starts = family.decoder_starts_with_eos && !pad_may_start;
  config.decoder_start_token_id = eos_starts ? special.eos : special.pad;
  config.model_type = model_type_for(config);
  validate(config, where);
}

void check_tokenizer_fits(ModelConfig& config, const Tokenizer& tokenizer,
                          const std::string& where) {
  for (const auto& [side, tokens, rows] :
       {std::tuple{"source", tokenizer.source_ids_in_use(), config.vocab_size},
        {"target", tokenizer.target_ids_in_use(), config.decoder_vocab_size}}) {
    if (tokens <= rows) continue;
    throw InputError(
        "{}: the {} vocabulary holds {} pieces, and the model's embedding {}; the tokenizer and "
        "the weights belong to different models",
        where, side, tokens, rows);
  }
  const int eos = tokenizer.special_tokens().eos;
  if (eos != config.eos_token_id) {
    throw InputError(
        "{}: eos_token_id is {}, and the tokenizer's end symbol has id {}; a model learns to end "
        "with it, so both must be the same",
        where, config.eos_token_id, eos);
  }
  config.model_type = model_type_for(config);
}

DecodeOptions decode_defaults_for(DecodeOptions decode, const ModelConfig& config) {
  if (!decode.bad_words_ids) {
    decode.bad_words_ids = std::vector<std::vector<int>>{{config.pad_token_id}};
  }
  return decode;
}

}  // namespace attn
