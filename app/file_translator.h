// A model that translates whole files, for `evaluate`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/search_options.h"
#include "model_source.h"
#include "record/score_report.h"
#include "translate/translator.h"

namespace attn {

class FileTranslator {
 public:
  /// Loads or makes the model and notes what there is to note.
  FileTranslator(const ModelOptions& model, const SearchOptions& search);

  /// One translation a line, as `translate` writes it; says what it cost in `run`.
  std::vector<std::string> translate(const std::vector<std::string>& sources, TranslationRun& run);

 private:
  std::vector<Translation> search(std::vector<PreparedSentence> sentences);

  std::size_t batch_;
  Splitting splitting_;
  ReadyEnsemble models_;
  std::unique_ptr<Translator> translator_;
};

}  // namespace attn
