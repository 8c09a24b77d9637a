#include "commands/other_options.h"

namespace attn {
namespace {

struct OtherNames {
  std::string_view own;     ///< empty: attn-demo has no such option
  std::string_view others;  ///< separated by spaces
};

constexpr OtherNames kNames[] = {
    {"model", "model_name_or_path model_name model_path checkpoint checkpoints path m"},
    {"model", "config_name tokenizer_name vocabs vocab"},
    {"show", "output_attentions output_attention return_attention attention_maps"},
    {"align", "print_alignment report_align return_alignments word_alignment"},
    {"batch", "max_batch_size batch_size maxi_batch per_device_eval_batch_size"},
    {"precision", "compute_type quantization quantize torch_dtype gemm_type fp16 bf16 int8 half"},
    {"dtype", "torch_dtype quantization"},
    {"sample_seed", "seed"},
    {"length_penalty", "word_penalty alpha length_norm"},
    {"input", "src source input_file src_file source_file i"},
    {"targets", "tgt target_file references"},
    {"target", "ref refs reference references"},
    {"beam", "beamsize b"},
    {"max_length", "max_output_length"},
    {"terms", "glossary glossaries term_file"},
    {"html_input", "format"},
    {"allow_origin", "cors cors_origin"},
    {"", "tgt_prefix target_prefix"},
    {"threads", "cpu"},
    {"target_lang", "forced_bos_token_id"},
    {"output", "output_file translations_file predictions_file o"},
    {"out", "output_dir save_dir save_model"},
    {"prefix", "source_prefix"},
    {"forbid", "bad_words_ids"},
    {"resume", "resume_from_checkpoint reload_checkpoint"},
    {"from", "pretrained_model restore_file train_from"},
    {"model.d_model", "dim_emb word_vec_size hidden_size encoder_embed_dim d_model"},
    {"model.encoder_layers", "enc_depth enc_layers num_encoder_layers"},
    {"model.decoder_layers", "dec_depth dec_layers num_decoder_layers"},
    {"model.encoder_attention_heads", "transformer_heads num_heads"},
    {"model.encoder_ffn_dim", "transformer_dim_ffn transformer_ff feed_forward_size d_ff"},
    {"model.tie_word_embeddings", "tied_embeddings share_decoder_embeddings"},
    {"model.share_encoder_decoder_embeddings",
     "tied_embeddings_all tied_embeddings_src "
     "share_embeddings share_all_embeddings"},
    {"train.learning_rate", "learn_rate lr"},
    {"train.warmup_updates", "lr_warmup warmup_steps warmup num_warmup_steps"},
    {"train.updates", "after_batches max_steps train_steps max_update"},
    {"train.epochs", "after_epochs num_train_epochs max_epoch"},
    {"train.patience", "early_stopping early_stopping_patience"},
    {"train.label_smoothing", "label_smoothing_factor"},
    {"train.batch_tokens",
     "mini_batch mini_batch_words max_tokens per_device_train_batch_size "
     "train_batch_size batch_size"},
    {"train.validate_every", "valid_freq eval_steps validate_interval_updates"},
    {"train.log_every", "disp_freq logging_steps log_interval report_every"},
    {"train.checkpoint_every", "save_freq save_steps save_interval_updates"},
    {"train.accumulate", "optimizer_delay gradient_accumulation_steps update_freq accum_count"},
    {"train.schedule", "lr_scheduler_type lr_scheduler lr_decay_inv_sqrt"},
    {"data.train.source", "train_sets train_file"},
    {"data.dev.source", "valid_sets validation_file"},
    {"train.clip_norm", "max_grad_norm"}};

bool holds_word(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> options_of_other_program(std::string_view other_name) {
  std::vector<std::string> found;
  for (const OtherNames& names : kNames) {
    if (!other_name.empty() && holds_word(names.others, other_name)) found.emplace_back(names.own);
  }
  return found;
}

}  // namespace attn
