#include "record/json/receipts_json.h"

#include "base/strings/utf8.h"
#include "record/json/json_parts.h"
#include "record/json/maps_json.h"

namespace attn {
namespace {

void write_text(JsonWriter& json, std::string_view key, const std::string& text) {
  json.member(key, is_valid_utf8(text) ? text : clean_text(text).text);
}

void write_entries(JsonWriter& json, std::string_view key,
                   const std::vector<ReceiptEntry>& entries) {
  json.key(key);
  json.array(entries, [&](const ReceiptEntry& entry) {
    json.object([&] {
      write_text(json, "text", entry.text);
      json.member("value", entry.value);
    });
  });
}

void write_sum(JsonWriter& json, std::string_view key, const ReceiptSum& sum) {
  json.key(key);
  json.object([&] {
    write_entries(json, "source", sum.source);
    write_entries(json, "prefix", sum.prefix);
    json.member("feed_forward", sum.feed_forward);
    json.member("biases", sum.biases);
    json.member("position", sum.position);
  });
}

void write_word(JsonWriter& json, const WordReceipt& receipt) {
  json.object([&] {
    write_text(json, "text", receipt.word.text);
    json.member("first", receipt.word.first);
    json.member("count", receipt.word.count);
    json.member("log_prob", receipt.log_prob);
    write_sum(json, "logit", receipt.logit);
    json.key("foil");
    json.object([&] {
      json.member("step", receipt.foil.step);
      write_text(json, "word", receipt.foil.word);
      write_text(json, "text", receipt.foil.text);
      json.member("given", receipt.foil.given);
      write_sum(json, "difference", receipt.foil.difference);
    });
    if (receipt.occlusion.empty()) return;
    json.key("occlusion");
    json.array(receipt.occlusion, [&](const OcclusionEntry& entry) {
      json.object([&] {
        write_text(json, "text", entry.text);
        json.member("drop", entry.drop);
        json.member("unk", entry.unk);
      });
    });
  });
}

/// Writes a member for maps that were computed: [layer][head][query][key], or text.
void write_cells(JsonWriter& json, std::string_view key, const AttentionMaps& maps, bool packed) {
  if (maps.layers == 0) return;
  json.key(key);
  if (packed) return write_packed(json, maps.weights, maps.queries, maps.keys);
  write_heads(json, maps.layers, maps.heads,
              [&](int layer, int head) { write_rows(json, maps.map(layer, head), maps.keys); });
}

void write_measured(JsonWriter& json, std::string_view site, const MeasuredMaps& maps,
                    bool packed) {
  json.member(site, [&] {
    json.object([&] {
      write_cells(json, "value", maps.value, packed);
      write_cells(json, "contribution", maps.contribution, packed);
    });
  });
}

MeasuredMaps read_measured(const JsonReader& maps, std::string_view site, const MapShape& shape) {
  const JsonReader measures = maps[site];
  const auto read = [&](std::string_view key) {
    AttentionMaps cells;
    const auto found = measures.find(key);
    if (!found) return cells;
    cells = {
        to_int(shape.layers), to_int(shape.heads), to_int(shape.queries), to_int(shape.keys), {}};
    read_dense(*found, shape, cells.weights);
    return cells;
  };
  return {read("value"), read("contribution")};
}

std::vector<ReceiptEntry> read_entries(const JsonReader& entries) {
  std::vector<ReceiptEntry> read;
  entries.for_each([&](const JsonReader& entry) {
    read.push_back({entry["text"].string(), entry["value"].number()});
  });
  return read;
}

ReceiptSum read_sum(const JsonReader& sum) {
  return {read_entries(sum["source"]), read_entries(sum["prefix"]), sum["feed_forward"].number(),
          sum["biases"].number(), sum["position"].number()};
}

WordReceipt read_word(const JsonReader& word) {
  WordReceipt receipt;
  receipt.word.text = word["text"].string();
  receipt.word.first = word["first"].integer();
  receipt.word.count = word["count"].integer();
  receipt.log_prob = word["log_prob"].number();
  receipt.logit = read_sum(word["logit"]);
  const JsonReader foil = word["foil"];
  receipt.foil = {foil["step"].integer(), foil["word"].string(), foil["text"].string(),
                  foil["given"].boolean(), read_sum(foil["difference"])};
  if (const auto occlusion = word.find("occlusion")) {
    occlusion->for_each([&](const JsonReader& entry) {
      receipt.occlusion.push_back(
          {entry["text"].string(), entry["drop"].number(), entry["unk"].number()});
    });
  }
  return receipt;
}

}  // namespace

void write_receipts(JsonWriter& json, const WordReceipts& receipts, bool packed) {
  json.object([&] {
    json.key("words");
    json.array(receipts.words, [&](const WordReceipt& receipt) { write_word(json, receipt); });
    if (!receipts.decoder_lens.empty()) json.member("decoder_lens", receipts.decoder_lens);
    if (receipts.cross.value.layers == 0) return;
    json.member("maps", [&] {
      json.object([&] {
        write_measured(json, "encoder_self", receipts.encoder_self, packed);
        write_measured(json, "decoder_self", receipts.decoder_self, packed);
        write_measured(json, "cross", receipts.cross, packed);
      });
    });
  });
}

WordReceipts read_receipts(const JsonReader& receipts, const SiteShapes& shapes) {
  WordReceipts read;
  receipts["words"].for_each(
      [&](const JsonReader& word) { read.words.push_back(read_word(word)); });
  if (const auto lens = receipts.find("decoder_lens")) read.decoder_lens = lens->strings();
  if (const auto maps = receipts.find("maps")) {
    read.encoder_self = read_measured(*maps, "encoder_self", shapes.encoder_self);
    read.decoder_self = read_measured(*maps, "decoder_self", shapes.decoder_self);
    read.cross = read_measured(*maps, "cross", shapes.cross);
  }
  return read;
}

}  // namespace attn
