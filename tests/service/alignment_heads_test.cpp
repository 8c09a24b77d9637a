// Tests that a model's aligning heads are found once for all sentences, if its config names none.
#include "service/measure/alignment_heads.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/files/files.h"
#include "base/json.h"
#include "temporary_directory.h"

using namespace attn;

namespace {

/// Returns a copy of the shipped model under a name, whose config names no heads.
ReadyModel unnamed_model(const test::TemporaryDirectory& directory, const std::string& name) {
  const std::string copy = directory.file(name);
  std::filesystem::copy(std::string(ATTN_SOURCE_DIR) + "/data/models/en-de", copy);
  Json config = Json::parse(read_file(copy + "/config.json"));
  REQUIRE(config.erase("alignment_heads") == 1);
  write_file(copy + "/config.json", config.dump());
  ModelChoice choice;
  choice.models = {copy};
  ReadyModel model = open_model(choice);
  find_alignment_heads(model);
  return model;
}

}  // namespace

TEST_CASE("gold alignments choose the heads of a model from English to German") {
  const test::TemporaryDirectory directory;
  const std::vector<HeadIndex> found = unnamed_model(directory, "opus-en-de").alignment_heads;
  REQUIRE(found.size() == 3);
  CHECK(found.front() == HeadIndex{2, 2});  // as the shipped model's config says
}

TEST_CASE("for another target, what English sentences show chooses them") {
  const test::TemporaryDirectory directory;
  const std::vector<HeadIndex> found = unnamed_model(directory, "opus-en-nl").alignment_heads;
  REQUIRE(!found.empty());
  CHECK(found.front() == HeadIndex{1, 1});  // by `aligns`, evaluate --report
}

TEST_CASE("no heads are found for another source or an unknown one, and none replace the named") {
  const test::TemporaryDirectory directory;
  CHECK(unnamed_model(directory, "nl-de").alignment_heads.empty());
  CHECK(unnamed_model(directory, "model").alignment_heads.empty());
  ReadyModel shipped = open_model({});
  find_alignment_heads(shipped);
  CHECK(shipped.alignment_heads.empty());
}
