// The functions that the page's worker calls. They load a model, or one to train, from files that
// the worker has copied into the module's memory, and answer the live page's requests as the server
// does (docs/serve.md).
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
#include "service/api/api_handler.h"
#include "service/search_settings.h"
#include "service/training/live_training.h"
#include "service/translate_lines.h"

namespace attn {
namespace {

constexpr int kOk = 200, kBadRequest = 400, kNotFound = 404, kUnprocessable = 422,
              kUnavailable = 503, kInternalError = 500;

/// The model that the worker has opened.
class SingleModel : public ModelProvider {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t) override { return ready_.value(); }

  void open(const std::string& directory, const std::string& name, MatmulPrecision precision) {
    const Backend backend = precision == MatmulPrecision::int8 ? Backend::int8 : Backend::panels;
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

SingleModel current_model;
std::unique_ptr<LiveTraining> training;  // for a worker that trains, instead of `opened`
std::string last_response;               // response of the last call

int refuse(int status, const std::string& message) {
  last_response =
      json_line([&](JsonWriter& json) { json.object([&] { json.member("error", message); }); });
  return status;
}

/// Runs `make` to build an answer, and returns the HTTP status that the server would send.
/// `smaller` suggests how to use less memory.
template <typename Make>
int answer(Make&& make, const char* smaller = "ask for a shorter sentence or fewer beams") {
  try {
    last_response = make();
    return kOk;
  } catch (const Error& error) {
    return refuse(error.code() == ExitCode::memory ? kUnavailable : kUnprocessable, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(kUnavailable, std::string("out of memory; ") + smaller);
  } catch (const std::exception& error) {
    return refuse(kInternalError, std::string("internal error; please report it: ") + error.what());
  }
}

ModelProvider& current_models() {
  if (training != nullptr) return *training;
  return current_model;
}

using Handler = std::string (ApiHandler::*)(const ApiRequest&, const std::atomic<bool>&,
                                            Timings&) const;

/// Returns null if nothing is served at the path.
Handler handler_of(const std::string& path) {
  if (path == "/api/page") return &ApiHandler::page;
  if (path == "/api/file") return &ApiHandler::file;
  if (path == "/api/attend") return &ApiHandler::attend;
  if (path == "/api/why") return &ApiHandler::why;
  return nullptr;
}

/// Translates each text of a list, as the server's /api/translate does but without notes and
/// markup. The page's measurement of its speed uses this.
std::string translate(const ApiRequest& request) {
  const ReadyModel& model = current_models().model(0);
  const Translator translator = make_translator(model);
  const std::vector<std::string> texts =
      request.texts.value_or(std::vector<std::string>{request.text});
  const auto found = translate_lines(translator, translation_settings(model, request.search), texts,
                                     {.window = max_texts, .by_length = true});
  return json_line([&](JsonWriter& json) {
    json.array(found, [&](const std::vector<LineTranslation>& best) {
      json.object([&] {
        json.key("translations");
        json.array(best, [&](const LineTranslation& one) {
          json.object([&] {
            json.member("text", one.text);
            json.member("score", one.score);
          });
        });
      });
    });
  });
}

}  // namespace
}  // namespace attn

extern "C" {

/// Loads the model in a directory of the module's file system; the answer is the page's description
/// (ApiHandler).
EMSCRIPTEN_KEEPALIVE int attn_open(const char* directory, const char* name, int use_int8) {
  using namespace attn;
  return answer(
      [&] {
        current_model.open(directory, name,
                           use_int8 != 0 ? MatmulPrecision::int8 : MatmulPrecision::float32);
        return ApiHandler(current_model).live_settings(ATTN_VERSION);
      },
      "this browser gives the page less than the model needs; close other pages, or open a "
      "smaller model");
}

/// Reads the experiment `directory`/`name`.json and creates its model, ready to train; the answer
/// is the page's description.
EMSCRIPTEN_KEEPALIVE int attn_train(const char* directory, const char* name) {
  using namespace attn;
  return answer(
      [&] {
        training.reset();
        training = std::make_unique<LiveTraining>(std::string(directory) + "/" + name + ".json");
        return ApiHandler(*training).live_settings(ATTN_VERSION);
      },
      "this browser gives the page less than the training needs; close other pages");
}

/// Answers a request body for one of the server's paths.
EMSCRIPTEN_KEEPALIVE int attn_ask(const char* path, const char* body) {
  using namespace attn;
  const Handler handler = handler_of(path);
  const bool trains = training != nullptr && std::string_view(path) == "/api/train";
  const bool translates = std::string_view(path) == "/api/translate";
  if (handler == nullptr && !trains && !translates)
    return refuse(kNotFound, std::string(path) + ": nothing is answered there");
  Json asked;
  const int status = answer([&] {
    asked = parse_body(body);
    return std::string();
  });
  if (status != kOk) return kBadRequest;
  if (trains) return answer([&] { return training->answer(asked); });
  if (translates)
    return answer([&] { return translate(parse_request(asked, Endpoint::translate)); });
  return answer([&] {
    const Endpoint endpoint = handler == &ApiHandler::attend ? Endpoint::attend
                              : handler == &ApiHandler::why  ? Endpoint::why
                                                             : Endpoint::page;
    const ApiRequest question = parse_request(asked, endpoint);
    const std::atomic<bool> never{false};  // the worker is terminated instead
    Timings timings;
    return (ApiHandler(current_models()).*handler)(question, never, timings);
  });
}

EMSCRIPTEN_KEEPALIVE const char* attn_said() {
  return attn::last_response.c_str();
}
}
