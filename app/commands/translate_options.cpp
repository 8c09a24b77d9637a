#include "commands/translate_options.h"

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {

void check_usage(const TranslateOptions& options, const ModelChoice& choice) {
  const bool by_line = options.sentences.empty();
  options.view.check();
  const char* given = options.target_given ? "--target" : "--targets";
  if (options.search.sample && (options.forced() || options.view.tree)) {
    throw UsageError("--sample does not go with {}",
                     options.view.tree ? "--tree, which shows a beam search"
                                       : fmt::format("{}, which is not searched for", given));
  }
  if (!options.targets.empty() && (!by_line || options.target_given)) {
    throw UsageError("--targets goes with --input FILE, line by line, and not with {}",
                     options.target_given ? "--target" : "sentences as arguments");
  }
  choice.maps_index();
  if (choice.several() && (options.forced() || options.what_if.given())) {
    throw UsageError("several --model do not go with {}; give one of them",
                     options.forced() ? given : "--without, --force and --swap");
  }
  if (!options.input.empty() && !by_line) {
    throw UsageError("--input names a file of sentences, and \"{}\" is one more; give one of them",
                     excerpt(options.sentences.front()));
  }
  if (options.target_given && options.sentences.size() != 1) {
    throw UsageError("--target goes with exactly one sentence, and {} were given",
                     options.sentences.size());
  }
  if (!options.what_if.given()) return;
  if (by_line) {
    throw UsageError("--without, --force and --swap take sentences as arguments; none was given");
  }
  if (!options.output.empty()) {
    throw UsageError("--output does not go with --without, --force and --swap; --json does");
  }
  if (options.view.tree) {
    throw UsageError("--tree does not go with --without, --force and --swap");
  }
}

}  // namespace attn
