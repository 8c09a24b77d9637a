// Tests train with word alignments that guide the heads of a cross-attention layer.
#include <doctest/doctest.h>

#include <algorithm>

#include "train_run.h"

namespace attn::test {
namespace {

/// Links word n to word n, as far as both sides have one.
std::string diagonal(const TrainScene& scene) {
  const std::vector<std::string> source = lines_of(bytes_of(scene.file("train.en")));
  const std::vector<std::string> target = lines_of(bytes_of(scene.file("train.de")));
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto words = [](const std::string& line) {
      return line.empty() ? 0 : std::count(line.begin(), line.end(), ' ') + 1;
    };
    for (int word = 0; word < std::min(words(source[i]), words(target[i])); ++word) {
      text += std::to_string(word) + "-" + std::to_string(word) + " ";
    }
    text += "\n";
  }
  return text;
}

void refuse(TrainScene& scene, const std::string& links, const std::string& part) {
  INFO(part);
  scene.directory.write("links.align", links);
  const Result result = scene.train("refused");
  CHECK(result.code == kInput);
  CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
}

}  // namespace

TEST_CASE("alignments guide a run, which resumes to the same bytes") {
  TrainScene scene;
  scene.must_train("free");
  scene.directory.write("links.align", diagonal(scene));
  scene.config["train"].update({{"guided_alignment", "links.align"},
                                {"guided_alignment_weight", 1.0},
                                {"guided_alignment_heads", {0}}});
  const Result result = scene.train("guided");
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK_MESSAGE(result.err.find("alignments guide cross:0:0: ") != std::string::npos, result.err);
  const bool same = bytes_of(scene.file("free/model/model.safetensors")) ==
                    bytes_of(scene.file("guided/model/model.safetensors"));
  CHECK_FALSE(same);
  scene.must_train("parts", {"--set", updates(6)});
  scene.must_train("parts", {"--resume"});
  check_same_run(scene.file("guided"), scene.file("parts"));
  const Result other =
      scene.train("guided", {"--resume", "--set", "train.guided_alignment_weight=2"});
  CHECK(other.code == kInput);
  CHECK(other.err.find("train.guided_alignment_weight was 1") != std::string::npos);
}

TEST_CASE("alignments of another text, and heads that the model does not have, are refused") {
  TrainScene scene;
  scene.config["train"]["guided_alignment"] = "links.align";
  const std::string links = diagonal(scene);
  refuse(scene, links + "0-0\n", "links.align has ");
  refuse(scene, "99-0" + links.substr(links.find('\n')), "links.align:1: found the link 99-0, but");
  refuse(scene, "0:0" + links.substr(links.find('\n')), "links.align:1: found \"0:0\"");
  scene.config["train"]["guided_alignment_heads"] = {99};
  refuse(scene, links, "train.guided_alignment_heads 99: a layer has heads 0 to ");
  scene.config["train"]["guided_alignment_heads"] = {0};
  scene.config["train"]["guided_alignment_layer"] = 7;
  refuse(scene, links, "train.guided_alignment_layer 7: the decoder has layers 0 to ");
  scene.config["train"]["guided_alignment_heads"] = "0";
  refuse(scene, links, "expected a list of heads, as in [0, 1]");
}

}  // namespace attn::test
