// Bodies of requests to the live page's server, of each kind.
#include "service/answer/question.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  Json body;
  if (!fuzz::accepts([&] { body = parse_body(bytes); })) return;
  for (const QuestionKind kind :
       {QuestionKind::translate, QuestionKind::attend, QuestionKind::page}) {
    fuzz::accepts([&] {
      const Question question = read_question(body, kind);
      fuzz::require(question.text.size() <= most_text_bytes, "a text within its limit");
      fuzz::require(kind == QuestionKind::page || !question.compare, "compare is the page's");
    });
  }
}
