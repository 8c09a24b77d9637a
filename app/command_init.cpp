// attn-demo init: random weights as a model directory that transformers and CTranslate2 load.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "arguments.h"
#include "base/error.h"
#include "base/files.h"
#include "commands.h"
#include "console.h"
#include "model_source.h"
#include "stop_signal.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  ModelOptions source;
  std::string out;
  std::string dtype = "float32";
};

DType parse_dtype(const std::string& text) {
  if (text == "float32") return DType::f32;
  if (text == "float16") return DType::f16;
  if (text == "bfloat16") return DType::bf16;
  throw UsageError("--dtype {}: expected float32, float16 or bfloat16", text);
}

/// The directory appears whole or not at all: everything is written beside its final name.
class NewDirectory {
 public:
  explicit NewDirectory(const std::string& path) : path_(fs::path(path).lexically_normal()) {
    if (!path_.has_filename()) path_ = path_.parent_path();
    std::error_code error;
    if (fs::exists(path_, error) &&
        !(fs::is_directory(path_, error) && fs::is_empty(path_, error))) {
      throw SystemError("{}: exists already and is not an empty directory; give --out another name",
                        path);
    }
    temporary_ = path_;
    temporary_ += fmt::format(".tmp-{}", getpid());
    for (fs::path p = temporary_; !p.empty() && !fs::exists(p, error); p = p.parent_path()) {
      made_.push_back(p);
    }
    remove_on_stop(temporary_.string());
    if (!fs::create_directories(temporary_, error) || error) {
      throw SystemError("{}: cannot make the directory: {}; check the path after --out", path,
                        error.message());
    }
  }
  ~NewDirectory() {
    forget_on_stop(temporary_.string());
    std::error_code ignored;
    if (committed_) return;
    fs::remove_all(temporary_, ignored);
    for (const fs::path& path : made_) fs::remove(path, ignored);  // parents made for it, if empty
  }
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  std::string writing() const { return temporary_.string(); }

  void commit() {
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error)
      throw SystemError("{}: cannot rename into place: {}", path_.string(), error.message());
    committed_ = true;
  }

 private:
  fs::path path_;
  fs::path temporary_;
  std::vector<fs::path> made_;  ///< what did not exist before, innermost first
  bool committed_ = false;
};

void copy_tokenizer(const std::string& from, const std::string& to) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json",
                           "tokenizer_config.json", "SHA256SUMS"}) {
    const std::string file = from + "/" + name;
    if (file_exists(file)) write_file(to + "/" + name, read_file(file));
  }
}

void run_init(const InitOptions& options) {
  const DType dtype = parse_dtype(options.dtype);
  if (options.source.config.empty() && options.source.preset.empty()) {
    throw UsageError("init needs --config FILE or --preset NAME; configs/demo.json is an example");
  }
  NewDirectory directory(options.out);
  const ReadyModel model = load_or_make(options.source);
  for (const std::string& text : model.notes) note(text);
  const DecodeConfig decode =
      resolve(model.decode, model.default_forced_eos, options.source.config);
  copy_tokenizer(model.tokenizer_directory, directory.writing());
  save_model(*model.transformer, decode, directory.writing(), dtype);
  directory.commit();
  output().write(fmt::format("{}: {} model with random weights (seed {})\n", options.out,
                             model.transformer->config().model_type, *model.seed));
}

}  // namespace

void add_init(CLI::App& app, Run& run) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command =
      app.add_subcommand("init", "Write a random model as a directory that transformers loads");
  options->source.add_to(*command);
  options->source.add_heads_to(*command);
  command->add_option("--out", options->out, "Directory to make")->type_name("DIR")->required();
  command->add_option("--dtype", options->dtype, "float32, float16 or bfloat16 [float32]")
      ->type_name("TYPE");
  command->footer(
      "Example:\n  attn-demo init --config configs/demo.json --seed 7 --out my-model\n"
      "  attn-demo translate --model my-model \"The group went home\"");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_init(*options); }; });
}

}  // namespace attn
