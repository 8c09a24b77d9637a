#include "config/experiment.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {
namespace {

/// Empties lines that begin with //, which leaves the line numbers unchanged.
std::string without_comments(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = text.find_first_not_of(" \t\r", begin);
    const bool comment = first != text.npos && text.substr(first).starts_with("//");
    if (!comment) result.append(text.substr(begin, end - begin));
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

/// Returns the value after the = of an override: JSON or, if it is not JSON, the text as a string.
Json override_value(const std::string& override, std::size_t equals) {
  const std::string text = override.substr(equals + 1);
  try {
    return parse_json(text, "value");
  } catch (const InputError& error) {
    if (text.starts_with('{') || text.starts_with('[')) {  // surely not meant as a string
      throw UsageError("{}: {}", in_quotes(override), error.what());
    }
    return text;
  }
}

/// Removes a size's other name, which the file may use, so that the override applies to it too.
void erase_alias(Json& root, const std::string& path, const std::string& override) {
  for (const SizeKey& size : size_keys()) {
    const std::string alias = size.alias;
    if (alias.empty() || (path != "model." + alias && path != "model." + std::string(size.key))) {
      continue;
    }
    if (path == "model." + alias && alias != "hidden_size") {
      // In transformers this is only the encoder's size, but users who type it mean both stacks.
      const std::string stack = std::string(size.key).substr(std::string("encoder_").size());
      throw UsageError(
          "{}: {} is another name of {}, which only sets the encoder; set model.{}, and "
          "model.decoder_{} "
          "for the decoder",
          in_quotes(override), alias, size.key, size.key, stack);
    }
    Json& model = root["model"];
    if (model.is_object()) model.erase(path == "model." + alias ? size.key : alias);
  }
}

void apply_override(Json& root, const std::string& override) {
  const std::size_t equals = override.find('=');
  const std::string path = override.substr(0, equals);
  if (equals == std::string::npos || path.find('.') == std::string::npos || path.front() == '.' ||
      path.back() == '.' || path.find("..") != std::string::npos ||
      std::ranges::count(path, '.') >= std::ptrdiff_t{JsonLimits{}.max_depth}) {
    throw UsageError("{}: expected section.key=value, such as model.d_model=24",
                     in_quotes(override));
  }
  Json* at = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (!at->is_object()) {
      throw UsageError("{}: {} is {} and has no keys inside", in_quotes(override),
                       in_quotes(path.substr(0, begin - 1)), describe(*at));
    }
    // A missing key is created as null, and becomes an object when a key inside it is accessed.
    at = &(*at)[path.substr(begin, end - begin)];
    if (end < path.size() && at->is_null()) *at = Json::object();
    begin = end + 1;
  }
  *at = override_value(override, equals);
  erase_alias(root, path, override);
}

/// True if a message about a config mentions this key: "train.updates 0 is ...", or "unknown key
/// "lr" in train; ...".
bool mentions_key(std::string_view message, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string unknown =
      fmt::format("unknown key {} in {};", in_quotes(path.substr(dot + 1)), path.substr(0, dot));
  if (message.find(unknown) != message.npos) return true;
  const std::size_t found = message.find(path);
  if (found == message.npos) return false;
  const std::size_t end = found + path.size();
  return end == message.size() ||
         (message[end] != '_' && std::isalnum(static_cast<unsigned char>(message[end])) == 0);
}

/// Rethrows an error of the combined file and overrides with the name of the override that caused
/// it.
[[noreturn]] void rethrow_with_override(const InputError& error, const std::string& where,
                                        const std::vector<std::string>& overrides) {
  const std::string_view message = error.what();
  std::string_view found = message;
  if (found.starts_with(where)) found.remove_prefix(where.size());  // a path may look like a key
  for (const std::string& override : overrides) {
    if (!mentions_key(found, override.substr(0, override.find('=')))) continue;
    throw InputError("{} (set by the override {})", message, excerpt(override));
  }
  throw InputError(error);
}

/// Reads a path in the file, relative to the file's own folder; returns an empty path if the key
/// is absent.
std::string read_path(KeyReader& reader, const std::string& key, ExperimentConfig& config) {
  const std::string& file = config.path;
  const std::optional<std::string> path = reader.text(key);
  if (!path) return "";
  if (path->empty() || path->find('\0') != std::string::npos) {
    reader.fail(key, fmt::format("is {}; expected a path", in_quotes(*path)));
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  if (error) throw SystemError("{}: no working directory: {}", printable(file), error.message());
  std::string found = (folder / *path).lexically_normal().string();
  config.paths.push_back({reader.prefix() + key, *path, found});
  return found;
}

void check_sampling(const TokenizerConfig& config, const KeyReader& reader) {
  constexpr double kMost = 10;  // at this value, segmentations other than the best are rare
  const double sampling = config.sampling;
  if (!(sampling >= 0) || sampling > kMost) {
    reader.fail("sampling", fmt::format("{} is out of range; use 0 (off) to {}", sampling, kMost));
  }
  if (config.type == "bpe" && sampling >= 1) {
    reader.fail(
        "sampling",
        fmt::format("{} is not a probability of dropping a BPE merge; use 0 (off) to below 1",
                    sampling));
  }
  if (config.type == "word" && sampling > 0) {
    reader.fail("sampling", fmt::format("{} needs a unigram or BPE tokenizer, but tokenizer.type "
                                        "is word; use 0, or change the type",
                                        sampling));
  }
}

TokenizerConfig read_tokenizer(const Json& json, ExperimentConfig& experiment) {
  KeyReader reader(json, printable(experiment.path), "tokenizer.");
  TokenizerConfig config;
  const std::optional<std::string> type = reader.text("type");
  const std::optional<int> vocab_size = reader.integer("vocab_size");
  config.joint = reader.boolean("joint").value_or(true);
  config.byte_fallback = reader.boolean("byte_fallback").value_or(false);
  config.sampling = reader.number("sampling").value_or(0.0);
  config.model = read_path(reader, "model", experiment);
  reader.refuse_unused();
  if (!config.model.empty() && (type || vocab_size || config.byte_fallback)) {
    reader.fail(
        type         ? "type"
        : vocab_size ? "vocab_size"
                     : "byte_fallback",
        "contradicts tokenizer.model, which names an existing tokenizer; remove one of them");
  }
  if (type && *type != "unigram" && *type != "bpe" && *type != "word") {
    reader.fail("type",
                fmt::format("{} is not supported; use unigram, bpe or word", in_quotes(*type)));
  }
  if (config.byte_fallback && type == "word") {
    reader.fail("byte_fallback", "needs a unigram or BPE tokenizer, but tokenizer.type is word");
  }
  // A vocabulary needs </s>, <unk> and at least one more entry.
  if (vocab_size && (*vocab_size < 3 || *vocab_size >= ModelLimits::vocab_size)) {
    reader.fail("vocab_size", fmt::format("{} is out of range; use 3 to {}", *vocab_size,
                                          ModelLimits::vocab_size - 1));
  }
  config.type = type.value_or("");
  check_sampling(config, reader);
  config.vocab_size = vocab_size.value_or(0);
  return config;
}

ParallelFiles read_files(KeyReader& data, const std::string& key, ExperimentConfig& experiment) {
  const Json* json = data.find(key);
  if (json == nullptr) return {};
  KeyReader reader(*json, data.where(), "data." + key + ".");
  ParallelFiles files;
  files.source = read_path(reader, "source", experiment);
  files.target = read_path(reader, "target", experiment);
  reader.refuse_unused();
  return files;
}

std::string read_language(KeyReader& reader, const std::string& key) {
  const std::optional<std::string> language = reader.text(key);
  if (language && language->empty()) {
    reader.fail(key, "is empty; expected a language, by its code or its English name");
  }
  return language.value_or("");
}

DataConfig read_data(const Json& json, ExperimentConfig& experiment) {
  KeyReader reader(json, printable(experiment.path), "data.");
  DataConfig config;
  config.train = read_files(reader, "train", experiment);
  config.dev = read_files(reader, "dev", experiment);
  config.test = read_files(reader, "test", experiment);
  config.source_lang = read_language(reader, "source_lang");
  config.target_lang = read_language(reader, "target_lang");
  config.probe = reader.text("probe").value_or("");
  config.probe_target = reader.text("probe_target").value_or("");
  reader.refuse_unused();
  return config;
}

Json with_absolute_paths(Json document, const ExperimentConfig& config) {
  const auto set = [&document](const char* section, const char* part, const char* key,
                               const std::string& path) {
    if (path.empty()) return;
    Json& at = document[section];
    (part[0] == '\0' ? at : at[part])[key] = path;
  };
  set("tokenizer", "", "model", config.tokenizer.model);
  set("train", "", "guided_alignment", config.train.guided_alignment);
  const auto set_files = [&](const char* part, const ParallelFiles& files) {
    set("data", part, "source", files.source);
    set("data", part, "target", files.target);
  };
  set_files("train", config.data.train);
  set_files("dev", config.data.dev);
  set_files("test", config.data.test);
  return document;
}

ExperimentConfig read_sections(Json json, const std::string& path, const std::string& where) {
  KeyReader sections(json, where);
  ExperimentConfig config;
  config.path = path;
  const Json empty = Json::object();
  const auto section = [&](const char* name) -> const Json& {
    const Json* found = sections.find(name);
    return found == nullptr ? empty : *found;
  };
  const Json& model = section("model");
  const Json& tokenizer = section("tokenizer");
  const Json& data = section("data");
  const Json& train = section("train");
  const Json& decode = section("decode");
  sections.refuse_unused();
  config.model = model_config_from_experiment(model, where);
  config.tokenizer = read_tokenizer(tokenizer, config);
  config.data = read_data(data, config);
  config.train = train_config_from_experiment(train, where);
  KeyReader paths(train, printable(path), "train.");
  config.train.guided_alignment = read_path(paths, "guided_alignment", config);
  config.decode = decode_options_from_experiment(decode, where);
  config.document = with_absolute_paths(std::move(json), config);
  return config;
}

}  // namespace

std::vector<std::string> experiment_keys() {
  return KeyReader::keys_read_by(
      [] { parse_experiment(R"({"train": {"updates": 1}})", "experiment", {}); });
}

void check_paths_exist(const ExperimentConfig& config, std::string_view keys) {
  for (const ConfigPath& path : config.paths) {
    std::error_code error;
    if (!path.key.starts_with(keys) || std::filesystem::exists(path.path, error) || error) continue;
    throw SystemError(
        "{}: {} is {}, but {} does not exist; paths, even in overrides, are relative to the "
        "config's folder, wherever the program runs",
        printable(config.path), path.key, in_quotes(path.written), printable(path.path));
  }
}

ExperimentConfig read_experiment(const std::string& path,
                                 const std::vector<std::string>& overrides) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  return parse_experiment(read_file(path, kMostBytes), path, overrides);
}

ExperimentConfig parse_experiment(std::string_view text, const std::string& path,
                                  const std::vector<std::string>& overrides) {
  const std::string where = printable(path);
  Json json = parse_json(without_comments(text), where);
  if (!json.is_object()) return read_sections(std::move(json), path, where);  // reports the error
  for (const std::string& override : overrides) apply_override(json, override);
  try {
    return read_sections(std::move(json), path, where);
  } catch (const InputError& error) {
    rethrow_with_override(error, where, overrides);
  }
}

}  // namespace attn
