#include "text/sentencepiece_library.h"

#include <sentencepiece_processor.h>

#include <exception>

#include "base/error.h"
#include "base/utf8.h"

namespace sentencepiece::logging {
void SetMinLogLevel(int level);  // exported by the library, declared in none of its public headers
}

namespace attn {
namespace {

constexpr int kFatalOnly = 3;

}  // namespace

void quiet_sentencepiece() {
  sentencepiece::logging::SetMinLogLevel(kFatalOnly);
}

std::shared_ptr<const sentencepiece::SentencePieceProcessor> load_sentencepiece(
    std::string_view bytes, const std::string& where) {
  quiet_sentencepiece();
  auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  std::string problem;
  try {
    const auto status = processor->LoadFromSerializedProto(bytes);
    if (!status.ok()) problem = status.ToString();
  } catch (const std::exception& error) {  // its index builder throws
    problem = error.what();
  }
  if (!problem.empty()) {
    throw InputError("{}: SentencePiece refuses the model: {}; copy or download it again", where,
                     printable(problem));
  }
  return processor;
}

}  // namespace attn
