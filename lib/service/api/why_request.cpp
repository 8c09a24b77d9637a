#include "service/api/why_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "record/json/receipts_json.h"
#include "service/field_text.h"
#include "why/why_json.h"

namespace attn {
namespace {

void check_why_size(const WhyMethods& methods, const PreparedSentence& sentence) {
  constexpr std::size_t most = 128;
  const bool reads_trace_only = !methods.occlusion && !methods.lens && !methods.gradients &&
                                !methods.integrated && !methods.patch;
  if (reads_trace_only || sentence.ids.size() <= most) return;
  throw InputError(
      "the request: the sentence has {} tokens, and methods other than receipt and contributions "
      "accept at most {} here; attn-demo why has no such limit",
      sentence.ids.size(), most);
}

}  // namespace

WhyAnswer answer_why_request(const ApiRequest& request, const WhyContext& context,
                             const PreparedSentence& sentence) {
  WhyQuestion question;
  if (!request.methods.empty()) {
    question.methods = for_field("methods", [&] {
      return parse_why_methods(fmt::format("{}", fmt::join(request.methods, ",")));
    });
  }
  check_why_size(question.methods, sentence);
  question.by_tokens = request.by_tokens;
  question.target = request.target;
  question.word = request.word;
  question.instead = request.instead;
  question.corrupt = request.corrupt;
  return answer_why(context, sentence, question);
}

std::string why_response(const ApiRequest& request, const WhyAnswer& answer) {
  if (!request.summed) return why_json(answer.why);
  return json_line([&](JsonWriter& json) { write_receipts(json, answer.words); });
}

}  // namespace attn
