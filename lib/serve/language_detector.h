// Language detection for LibreTranslate clients, from frequent words, letters and scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct DetectedLanguage {
  std::string code;    ///< one of the candidates
  int confidence = 0;  ///< 0 to 100
};

/// Returns the candidates that the text gives evidence for, most likely first. If there is none,
/// returns the first candidate with confidence 0. `candidates` must not be empty; their codes are
/// those of models: "de", "deu_Latn".
///
/// Evidence is a frequent word of a language, or a letter or script that few languages use. Words
/// that several languages share count in part for each. Languages that are not candidates take
/// their share too, so French is no confident "English". The confidence is an estimate of the
/// probability in percent; it is low for texts with little evidence for their length.
std::vector<DetectedLanguage> detect_language(std::string_view text,
                                              const std::vector<std::string>& candidates);

}  // namespace attn
