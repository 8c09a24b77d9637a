// What the page's worker calls: a model, or a training of one, out of files that it has put into
// the module's memory, and answers to the live page's questions, as the server gives them
// (docs/serve.md).
#include <emscripten.h>

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_writer.h"
#include "service/answer/sentence_answers.h"
#include "service/training/watched_training.h"

namespace attn {
namespace {

constexpr int kDone = 200, kNoJson = 400, kNothingThere = 404, kRefused = 422, kNoMemory = 503,
              kInternal = 500;

/// The model that the worker has opened.
class OneModel : public AskedModels {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t) override { return ready_.value(); }

  void open(const std::string& directory, const std::string& name, ProductPrecision precision) {
    const Backend backend = precision == ProductPrecision::int8 ? Backend::int8 : Backend::panels;
    ReadyModel ready;
    LoadedModel loaded = load_model(directory, backend);
    ready.tokenizer = std::make_unique<Tokenizer>(directory);
    ready.transformer = std::make_unique<Transformer>(std::move(loaded.transformer));
    ready.decode = loaded.decode;
    ready.name = name;
    ready.precision = precision;
    ready.notes.assign(loaded.notes.begin(), loaded.notes.end());
    ready_.emplace(std::move(ready));
    names_ = {name};
  }

 private:
  std::optional<ReadyModel> ready_;
  std::vector<std::string> names_;
};

OneModel opened;
std::unique_ptr<WatchedTraining> training;  // of a worker that trains, in the place of `opened`
std::string said;                           // what the last call gave

int refuse(int status, const std::string& message) {
  said = json_line([&](JsonWriter& json) { json.object([&] { json.member("error", message); }); });
  return status;
}

/// Runs what makes an answer; the status that the server would give. `smaller` is what takes less
/// memory.
template <typename Make>
int answer(Make&& make, const char* smaller = "ask for a shorter sentence or fewer beams") {
  try {
    said = make();
    return kDone;
  } catch (const Error& error) {
    return refuse(error.code() == ExitCode::memory ? kNoMemory : kRefused, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(kNoMemory, std::string("out of memory; ") + smaller);
  } catch (const std::exception& error) {
    return refuse(kInternal, std::string("internal error; please report it: ") + error.what());
  }
}

AskedModels& asked_models() {
  if (training != nullptr) return *training;
  return opened;
}

using Answer = std::string (SentenceAnswers::*)(const Question&, const std::atomic<bool>&,
                                                Timings&) const;

/// Null where nothing is answered there.
Answer answer_at(const std::string& path) {
  if (path == "/api/page") return &SentenceAnswers::page;
  if (path == "/api/file") return &SentenceAnswers::file;
  if (path == "/api/attend") return &SentenceAnswers::attend;
  return nullptr;
}

}  // namespace
}  // namespace attn

extern "C" {

/// Reads the model in a directory of the module's own files; what the page says of itself
/// (SentenceAnswers).
EMSCRIPTEN_KEEPALIVE int attn_open(const char* directory, const char* name, int eight_bits) {
  using namespace attn;
  return answer(
      [&] {
        opened.open(directory, name,
                    eight_bits != 0 ? ProductPrecision::int8 : ProductPrecision::float32);
        return SentenceAnswers(opened).live_settings(ATTN_VERSION);
      },
      "this browser gives the page less than the model needs; close other pages, or open a "
      "smaller model");
}

/// Reads the experiment `directory`/`name`.json and makes its model, whose training has yet to
/// begin; what the page says of itself.
EMSCRIPTEN_KEEPALIVE int attn_train(const char* directory, const char* name) {
  using namespace attn;
  return answer(
      [&] {
        training.reset();
        training = std::make_unique<WatchedTraining>(std::string(directory) + "/" + name + ".json");
        return SentenceAnswers(*training).live_settings(ATTN_VERSION);
      },
      "this browser gives the page less than the training needs; close other pages");
}

/// The answer to the body of a request to one of the server's paths.
EMSCRIPTEN_KEEPALIVE int attn_ask(const char* path, const char* body) {
  using namespace attn;
  const Answer how = answer_at(path);
  const bool trains = training != nullptr && std::string_view(path) == "/api/train";
  if (how == nullptr && !trains)
    return refuse(kNothingThere, std::string(path) + ": nothing is answered there");
  Json asked;
  const int status = answer([&] {
    asked = parse_body(body);
    return std::string();
  });
  if (status != kDone) return kNoJson;
  if (trains) return answer([&] { return training->answer(asked); });
  return answer([&] {
    const bool attends = how == &SentenceAnswers::attend;
    const Question question =
        read_question(asked, attends ? QuestionKind::attend : QuestionKind::page);
    const std::atomic<bool> never{false};  // the worker is ended instead
    Timings timings;
    return (SentenceAnswers(asked_models()).*how)(question, never, timings);
  });
}

EMSCRIPTEN_KEEPALIVE const char* attn_said() {
  return attn::said.c_str();
}
}
