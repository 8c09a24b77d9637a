#include "attn_demo/attn_demo.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/search_options.h"
#include "model_source.h"
#include "shipped.h"
#include "terminal/progress.h"
#include "translate/translate_all.h"

namespace attn_demo {
namespace {

namespace fs = std::filesystem;

/// Data is installed beside the library: PREFIX/share/attn-demo for PREFIX/lib or PREFIX/lib/CPU.
void find_shipped_data() {
  Dl_info own{};
  static const char mark = 0;
  if (dladdr(&mark, &own) == 0 || own.dli_fname == nullptr) return;
  std::error_code error;
  fs::path folder = fs::absolute(own.dli_fname, error).parent_path();
  for (int up = 0; !error && up < 3; ++up) {
    folder = folder.parent_path();
    const fs::path data = folder / "share" / "attn-demo";
    if (fs::is_directory(data, error)) return attn::set_shipped_root(data.string());
    error.clear();
  }
}

/// The libraries' errors become this header's.
template <typename Action>
auto guarded(Action&& action) {
  try {
    return action();
  } catch (const attn::Error& error) {
    throw Error(static_cast<int>(error.code()), attn::printable(error.what()));
  } catch (const std::bad_alloc&) {
    throw Error(static_cast<int>(attn::ExitCode::memory),
                "out of memory; choose a smaller model or beam");
  }
}

attn::SearchOptions options_of(const Search& search) {
  attn::SearchOptions options;
  if (search.beam) options.beam = std::to_string(*search.beam);
  if (search.length_penalty) options.length_penalty = fmt::format("{:f}", *search.length_penalty);
  if (search.max_length) options.max_length = std::to_string(*search.max_length);
  if (search.threads) options.threads = std::to_string(*search.threads);
  return options;
}

Maps maps_of(const attn::AttentionMaps& from) {
  Maps maps{from.layers, from.heads, from.queries, from.keys, {}};
  std::vector<float> scratch;
  for (int layer = 0; layer < from.layers; ++layer) {
    for (int head = 0; head < from.heads; ++head) {
      const auto map = from.whole(layer, head, scratch);
      maps.weights.insert(maps.weights.end(), map.begin(), map.end());
    }
  }
  return maps;
}

}  // namespace

struct Model::Loaded {
  attn::ReadyEnsemble models;

  /// A translator for one call; only the best of each sentence is asked for.
  std::unique_ptr<attn::Translator> translator(const attn::SearchOptions& options) const {
    attn::DecodeOptions decode = options.decode();
    decode.num_return_sequences = 1;
    options.use_threads();
    return attn::make_translator(models, decode);
  }
};

Model::Model(const std::string& directory) : loaded_(std::make_unique<Loaded>()) {
  guarded([&] {
    attn::draw_no_progress();
    find_shipped_data();
    attn::ModelOptions options;
    options.model = directory;
    loaded_->models = attn::load_all(options);
  });
}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::vector<std::string> Model::translate(const std::vector<std::string>& texts,
                                          const Search& search) const {
  return guarded([&] {
    const attn::SearchOptions options = options_of(search);
    const auto translator = loaded_->translator(options);
    std::vector<attn::PreparedLine> lines;
    for (const std::string& text : texts) {
      lines.push_back(attn::prepare_line(*translator, text, options.splitting()));
    }
    const auto found = *attn::translate_all(*translator, attn::all_parts(lines),
                                            options.batch_size(), [](const auto&) { return true; });
    std::vector<std::string> translations;
    auto next = found.begin();
    for (const attn::PreparedLine& line : lines) {
      std::vector<std::vector<attn::Translation>> parts;
      for (std::size_t i = 0; i < line.parts.size(); ++i) parts.push_back({*next++});
      const auto whole = attn::join_parts(parts, line.gaps, translator->decode_config());
      translations.push_back(attn::clean_text(whole.front().text).text);
    }
    return translations;
  });
}

Attention Model::attend(const std::string& text, const Search& search) const {
  return guarded([&] {
    const auto translator = loaded_->translator(options_of(search));
    attn::AttentionRecord record =
        std::move(translator->record({translator->prepare(text)}).front());
    attn::HypothesisRecord& best = record.hypotheses.front();
    Attention made;
    made.text = std::move(best.text);
    made.score = best.score;
    made.source_tokens = std::move(record.source.tokens);
    made.tokens = std::move(best.produced.tokens);
    made.decoder_tokens = std::move(best.decoder_input.tokens);
    made.log_probs = std::move(best.log_probs);
    made.encoder = maps_of(record.encoder_self);
    made.decoder = maps_of(best.decoder_self);
    made.cross = maps_of(best.cross);
    return made;
  });
}

}  // namespace attn_demo
