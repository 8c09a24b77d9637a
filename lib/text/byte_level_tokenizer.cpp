// The tokenizer of BART and LED in its older form: vocab.json and merges.txt.
#include "base/at.h"
#include "text/pipeline/pipeline.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

/// The model's own tokens; the classes say that the first and the last of a text are these.
void set_special_tokens(const TokenizerSettings& settings, const Vocabulary& vocabulary,
                        const std::string& where, Pipeline& p) {
  const std::string begin = settings.token_or("bos_token", "<s>").value_or("<s>");
  p.special.eos = required_id(vocabulary, settings.eos_token, where);
  p.special.unk = required_id(vocabulary, settings.unk_token, where);
  p.special.pad = required_id(vocabulary, settings.pad_token, where);
  const int first =
      required_id(vocabulary, settings.token_or("cls_token", "<s>").value_or(begin), where);
  const int last = required_id(
      vocabulary, settings.token_or("sep_token", "</s>").value_or(settings.eos_token), where);
  p.source = p.target = {{first}, {last}};
  p.is_special.assign(to_size(vocabulary.size()), false);
  for (const int id : {first, last, p.special.eos, p.special.unk, p.special.pad}) {
    at(p.is_special, id) = true;
  }
  std::vector<std::string> others = settings.more_special_tokens;
  others.push_back(begin);
  if (const auto mask = settings.token_or("mask_token", "<mask>")) others.push_back(*mask);
  for (const std::string& piece : others) {
    if (const auto id = vocabulary.find(piece)) at(p.is_special, *id) = true;
  }
}

}  // namespace

std::unique_ptr<const TokenizerKind> byte_level_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  const std::string where = directory + "/vocab.json";
  auto vocabulary = std::make_shared<const Vocabulary>(
      Vocabulary::parse(read_tokenizer_file(directory, "vocab.json"), where));
  BpeMerges merges(read_tokenizer_file(directory, "merges.txt"), *vocabulary, directory + "/merges.txt");
  Pipeline p;
  set_special_tokens(settings, *vocabulary, where, p);
  for (int id = 0; id < vocabulary->size(); ++id) p.pieces.push_back(vocabulary->piece(id));
  add_tokens(p, settings.added_tokens, directory + ": added tokens");
  p.pre_tokenizers = {byte_level_pre_tokenizer(settings.add_prefix_space, true)};
  p.subword_model = bpe_model(std::move(vocabulary), std::move(merges), {});
  p.decoders = {byte_level_decoder()};  // the classes ignore clean_up_tokenization_spaces
  p.pieces_are_byte_level = true;
  return pipeline_tokenizer(std::move(p));
}

}  // namespace attn
