#include "service/measure/scored_pairs.h"

#include <fmt/format.h>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {

std::vector<ReferencePair> make_scored_pairs(const ReadyModel& model,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target, std::string& note) {
  const auto most = to_size(model.transformer->config().max_pair_length());
  std::vector<ReferencePair> pairs;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    ReferencePair pair{model.tokenizer->encode_source(clean_text(source[i]).text).ids,
                    model.tokenizer->encode_target(clean_text(target[i]).text).ids};
    const bool fits = pair.source.size() > 1 && pair.source.size() <= most &&
                      pair.target.size() > 1 && pair.target.size() <= most;
    if (fits) {
      pairs.push_back(std::move(pair));
    } else {
      ++left_out;
    }
  }
  if (pairs.empty()) {
    throw InputError("no pair of sentences is left: all are empty or longer than {} tokens", most);
  }
  if (left_out > 0) {
    note = fmt::format("{} pair{} left out: empty, or longer than the model's {} positions",
                       left_out, left_out == 1 ? " is" : "s are", most);
  }
  return pairs;
}

}  // namespace attn
