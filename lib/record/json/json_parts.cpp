#include "record/json/json_parts.h"

#include <limits>

#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Writes a member, with null for an undefined metric.
void write_figure(JsonWriter& json, std::string_view key, const std::optional<float>& metric) {
  json.key(key);
  json.number_or_null(metric.value_or(std::numeric_limits<float>::quiet_NaN()));
}

void write_head_metrics(JsonWriter& json, const HeadMetrics& metrics, bool cross) {
  json.object([&] {
    write_figure(json, "entropy", metrics.entropy);
    write_figure(json, "distance", metrics.distance);
    write_figure(json, "diagonality", metrics.diagonality);
    write_figure(json, "end_mass", metrics.end_mass);
    write_figure(json, "punctuation_mass", metrics.punctuation_mass);
    if (cross) {
      write_figure(json, "alignment", metrics.alignment);
      write_figure(json, "read_alignment", metrics.read_alignment);
    }
    if (metrics.gold) write_alignment_score(json, *metrics.gold);
    if (metrics.read_gold) write_figure(json, "read_aer", metrics.read_gold->error_rate());
  });
}

void write_words(JsonWriter& json, const std::vector<Word>& words) {
  json.array(words, [&](const Word& word) {
    json.object([&] {
      json.member("text", is_valid_utf8(word.text) ? word.text : clean_text(word.text).text);
      json.member("index", word.text_index);
    });
  });
}

}  // namespace

void write_tokens(JsonWriter& json, const TokenSequence& sequence) {
  json.member("tokens", sequence.tokens);
  json.member("ids", sequence.ids);
}

void write_model(JsonWriter& json, const ModelSummary& model) {
  json.object([&] {
    json.member("weights", model.random_weights ? "random" : "loaded");
    json.member("seed", model.seed);
    if (model.update) json.member("update", *model.update);
    json.member("name", model.name);
    if (model.precision != "float32") json.member("precision", model.precision);
    if (!model.ensemble.empty()) json.member("ensemble", model.ensemble);
    if (!model.alignment_heads.empty()) {
      json.key("alignment_heads");
      write_head_indices(json, model.alignment_heads);
    }
    json.member("d_model", model.d_model);
    json.member("encoder_layers", model.encoder_layers);
    json.member("decoder_layers", model.decoder_layers);
    json.member("encoder_heads", model.encoder_heads);
    json.member("decoder_heads", model.decoder_heads);
    if (model.head_dim > 0) json.member("head_dim", model.head_dim);
    json.member("encoder_head_dim", model.encoder_head_dim());
    json.member("decoder_head_dim", model.decoder_head_dim());
    json.member("encoder_ffn_dim", model.encoder_ffn_dim);
    json.member("decoder_ffn_dim", model.decoder_ffn_dim);
    json.member("vocab_size", model.vocab_size);
    json.member("decoder_vocab_size", model.decoder_vocab_size);
    json.member("encoder_scale", model.encoder_scale);
    json.member("decoder_scale", model.decoder_scale);
  });
}

void write_site_report(JsonWriter& json, const SiteReport& kind) {
  write_heads(json, kind.layers, kind.heads, [&](int layer, int head) {
    write_head_metrics(json, kind.at({layer, head}), kind.site == AttentionSite::cross);
  });
}

void write_head_indices(JsonWriter& json, const std::vector<HeadIndex>& places) {
  json.array(places, [&](HeadIndex place) { json.value(std::array{place.layer, place.head}); });
}

void write_alignment_score(JsonWriter& json, const GoldScore& score) {
  json.member("precision", score.precision());
  json.member("recall", score.recall());
  json.member("aer", score.error_rate());
}

void write_alignment(JsonWriter& json, const WordAlignment& alignment, bool weights) {
  json.object([&] {
    json.member("from", alignment.from);
    json.key("source");
    write_words(json, alignment.source);
    json.key("target");
    write_words(json, alignment.target);
    json.key("links");
    json.array(alignment.links, [&](const AlignmentLink& link) {
      json.object([&] {
        json.member("source", link.source);
        json.member("target", link.target);
        json.member("weight", link.weight);
      });
    });
    if (!weights) return;
    const std::size_t width = alignment.source.size();
    json.key("weights");
    json.array([&] {
      for (std::size_t at = 0; width > 0 && at + width <= alignment.weights.size(); at += width) {
        json.array(std::span(alignment.weights).subspan(at, width),
                   [&](float weight) { json.number_or_null(weight); });
      }
    });
  });
}

}  // namespace attn
