#include <fmt/format.h>
#include <zlib.h>
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/strings/base64.h"
#include "base/strings/utf8.h"
#include "model/directory/model_directory.h"
#include "service/api/api_handler.h"
#include "service/html_pages.h"
#include "service/measure/alignment_heads.h"
#include "service/model/shipped.h"
#include "service/progress.h"
#include "service/training/experiment_setup.h"
#include "service/training/untrained_model.h"
#include "view/page/page_html.h"

namespace attn {

PageContent::PageContent(std::string path, PageDetail asked) : path_(std::move(path)) {
  if (!asked.vectors) variants_.push_back({.detail = {true, true, true}});
  if (!asked.search) variants_.push_back({.detail = {asked.vectors, true, true}});
  if (!asked.receipts) variants_.push_back({.detail = {asked.vectors, asked.search, true}});
  variants_.push_back({.detail = asked});
}

void PageContent::add(const AttentionRecord& record) {
  for (Variant& variant : variants_) {
    variant.records.push_back(page_record(record, variant.detail));
    variant.bytes += variant.records.back().size();
  }
  if (count_ == 0) {
    given_ = {record.encoder_vectors.has_value() || !record.residual_stream.empty(),
              record.search.has_value(),
              !record.hypotheses.empty() && record.hypotheses.front().receipts.has_value()};
  }
  ++count_;
  const auto is_large = [&](const Variant& variant) {
    const std::size_t most = variant.detail.vectors ? small_bytes : small_search_bytes;
    return variant.bytes > most || (excluded_.vectors && variant.detail.vectors) ||
           (excluded_.search && variant.detail.search) ||
           (excluded_.receipts && variant.detail.receipts);
  };
  const auto last = variants_.end() - 1;
  variants_.erase(std::remove_if(variants_.begin(), last, is_large), last);
  if (variants_.back().bytes > max_bytes) {
    refuse_field(Field{"html"},
                 fmt::format(" {}: the page would be larger than {}; give it fewer sentences",
                             printable(path_), human_bytes(max_bytes)));
  }
}

std::string PageContent::name() const {
  return path_ == "-" ? "the page" : printable(path_);
}

FieldText PageContent::what_is_missing(const Variant& chosen) const {
  const bool vectors = given_.vectors && !chosen.detail.vectors;
  const bool search = given_.search && !chosen.detail.search;
  if (!vectors && !search) return {};
  const bool both = vectors && search;
  FieldText text(
      fmt::format("{}: no {}: with them it would take more than {}; ", name(),
                  both      ? "queries, keys, values, which explain a cell, and search trees"
                  : vectors ? "queries, keys and values, which explain a cell"
                            : "search trees",
                  human_bytes(static_cast<double>(both ? small_search_bytes : small_bytes))));
  text.add(Field{vectors ? "vectors" : "tree"});
  if (both) text.add(FieldText(" and ", Field{"tree"}));
  text.add(both ? " put them in" : " puts them in");
  return text;
}

FieldText PageContent::receipts_are_missing(const Variant& chosen) const {
  if (!given_.receipts || chosen.detail.receipts) return {};
  FieldText text(
      fmt::format("{}: no receipts, which explain a word: with them it would be larger than {}; ",
                  name(), human_bytes(static_cast<double>(small_search_bytes))));
  text.add(Field{"why"});
  text.add(" puts them in");
  return text;
}

std::string PageContent::html(const std::string& heads) const {
  const Progress progress("making the page");
  return page_html({.records = variants_.front().records,
                    .heads = heads,
                    .curves = curves_,
                    .embed = embed_,
                    .words = words_});
}

std::vector<FieldText> PageContent::notes(const std::string& html) const {
  std::vector<FieldText> all;
  if (FieldText missing = what_is_missing(variants_.front()); !missing.empty()) {
    all.push_back(std::move(missing));
  }
  if (FieldText missing = receipts_are_missing(variants_.front()); !missing.empty()) {
    all.push_back(std::move(missing));
  }
  if (html.size() > small_bytes) {
    all.push_back(
        fmt::format("{} will take {}", name(), human_bytes(static_cast<double>(html.size()))));
  }
  return all;
}

namespace {

/// Provides a single model, which is already loaded.
class SingleModelProvider : public ModelProvider {
 public:
  explicit SingleModelProvider(const ReadyModel& model) : model_(model), names_{model.name} {}
  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t) override { return model_; }

 private:
  const ReadyModel& model_;
  std::vector<std::string> names_;
};

/// Compresses bytes to gzip format, which every browser can decompress.
std::string packed(std::string_view bytes) {
  constexpr int kGzip = 16, kMemory = 9;
  z_stream stream{};
  if (bytes.size() > std::numeric_limits<uInt>::max() / 2) {
    throw InputError("a model of {} is too large for a page",
                     human_bytes(static_cast<double>(bytes.size())));
  }
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in(bytes);  // zlib's interface takes a non-const pointer
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = narrow_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = narrow_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::logic_error("zlib does not end");
  return out;
}

/// The elements of a page that contain files.
class PackedFiles {
 public:
  /// Adds bytes and returns the element's name. Equal bytes share an element.
  std::string add(std::string_view bytes) {
    const auto found = ids_.find(std::string(bytes));
    if (found != ids_.end()) return found->second;
    const std::string id = fmt::format("attn-packed-{}", ids_.size());
    html_ += fmt::format("<script type=\"text/plain\" id=\"{}\">", id);
    const std::size_t begin = html_.size();
    append_base64(html_, packed(bytes));
    letters_ += html_.size() - begin;
    html_ += "</script>\n";
    ids_.emplace(bytes, id);
    return id;
  }
  const std::string& html() const { return html_; }
  std::size_t letters() const { return letters_; }

 private:
  std::map<std::string, std::string> ids_;  ///< element ids by content
  std::string html_;
  std::size_t letters_ = 0;
};

std::string module_file(const char* name) {
  for (const char* folder : {"web/", "build/web/"}) {
    const std::string path = find_shipped(std::string(folder) + name);
    if (!path.empty()) return path;
  }
  throw InputError(
      "this program was built without {}, the module that such a page contains; "
      "scripts/build_web.sh makes it with emscripten, and released packages contain it",
      name);
}

std::vector<std::string> files_of_model(const std::string& directory) {
  std::vector<std::string> names{"config.json", "generation_config.json", "model.safetensors"};
  for (const std::string& name : tokenizer_files()) {
    // SHA256SUMS is left out: its checksums are those of the files that the model was read from.
    if (name != "SHA256SUMS" && file_exists(join_path(directory, name.c_str())))
      names.push_back(name);
  }
  return names;
}

/// Describes the files of a directory for the page.
Json files_json(PackedFiles& packed, const std::string& directory,
                const std::vector<std::string>& names) {
  Json files = Json::array();
  for (const std::string& name : names) {
    files.push_back(
        {{"name", name}, {"id", packed.add(read_file(join_path(directory, name.c_str())))}});
  }
  return files;
}

/// Stores the heads in a model's config.json; none: does nothing.
void name_alignment_heads(const std::string& path, const std::vector<HeadIndex>& heads) {
  if (heads.empty()) return;
  Json config = Json::parse(read_file(path));
  for (const HeadIndex head : heads) config["alignment_heads"].push_back({head.layer, head.head});
  write_file(path, config.dump(2) + "\n");
}

/// Returns the data for training in the page.
Json training_json(PackedFiles& packed) {
  const auto directory = TemporaryPath::make_working_directory();
  const ExperimentBundle toy = bundle_experiment(shipped("configs/toy.json"), directory->path());
  return {{"name", toy.name},
          {"pairs", toy.pairs},
          {"files", files_json(packed, directory->path(), toy.files)}};
}

}  // namespace

std::string standalone_page(const ModelChoice& choice, DType dtype, const std::string& version,
                            bool embed) {
  const std::string module = module_file("attn-demo.wasm"), script = module_file("attn-demo.js");
  const auto directory = TemporaryPath::make_working_directory();
  ModelChoice stored;
  stored.models = {directory->path()};
  stored.precision = dtype == DType::i8 ? MatmulPrecision::int8 : MatmulPrecision::float32;
  std::string name;
  {
    ReadyModel model = open_or_make_model(choice);
    find_alignment_heads(model);
    name = model.name;
    copy_tokenizer(model.tokenizer_directory, directory->path());
    save_model(*model.transformer,
               resolve_decode_options(model.decode, model.default_forced_eos, model.name),
               directory->path(), dtype);
    name_alignment_heads(join_path(directory->path(), "config.json"), model.alignment_heads);
  }
  ReadyModel model = open_model(stored);
  model.name = name;
  SingleModelProvider asked(model);
  const ApiHandler answers(asked);
  const std::vector<std::string> records = answers.first_records();

  const Progress progress("packing");
  PackedFiles files;
  Json alone = Json::object();
  alone["module"] = files.add(read_file(module));
  alone["script"] = files.add(read_file(script));
  alone["name"] = name;
  alone["eight_bits"] = dtype == DType::i8;
  alone["files"] = files_json(files, directory->path(), files_of_model(directory->path()));
  alone["training"] = training_json(files);
  alone["speed"] = files.add(read_file(shipped("data/speed/sentences.en")));
  alone["letters"] = files.letters();
  Json live = Json::parse(answers.live_settings(version));
  live["alone"] = std::move(alone);
  const std::string said = live.dump();
  return page_html({.records = records, .live = said, .packed = files.html(), .embed = embed});
}

}  // namespace attn
