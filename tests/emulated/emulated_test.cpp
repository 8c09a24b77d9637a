// Tests the program on other CPUs than this machine's. qemu-user refuses instructions that the
// emulated CPU lacks, whereas ATTN_DEMO_CPU only chooses among the kernels of the actual CPU.
#include <doctest/doctest.h>

#include <algorithm>

#include "../cli/bad_input.h"
#include "base/strings/sha256.h"

namespace attn::test {
namespace {

const std::string kRoot = ATTN_SOURCE_DIR;
const std::string kSentence = "The group went home";
const std::string kTranslation = "Die Gruppe ging nach Hause";

struct Machine {
  std::string name;     ///< qemu's name for it
  std::string kernels;  ///< the kernels that it runs
};

/// The oldest CPU, the first with AVX2 of Intel and of AMD, and everything that qemu can emulate.
/// The qemu of Debian 12 and 13 has AVX2 but no AVX-512.
const std::vector<Machine> kMachines{
    {"Nehalem", "portable"}, {"Haswell", "avx2"}, {"EPYC", "avx2"}, {"max", "avx2"}};

/// Runs the program on an emulated machine, or directly if the name is "".
Result run_on(const std::string& machine, std::vector<std::string> args,
              const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  if (machine.empty()) return run_program({.args = std::move(args), .environment = environment});
  args.insert(args.begin(), {"qemu-x86_64", "-cpu", machine, ATTN_DEMO_BINARY});
  Result result = run_program({.args = std::move(args),
                               .environment = environment,
                               .program = "/usr/bin/env",
                               .limit_milliseconds = 600'000});  // some seconds on idle cores
  // qemu lists the features of a CPU that it cannot emulate.
  std::string said;
  for (const std::string& line : lines_of(result.err)) {
    if (!line.starts_with("qemu-x86_64: warning:")) said += line + "\n";
  }
  result.err = said;
  return result;
}

/// Returns stdout of a run that must succeed and print nothing on stderr.
std::string output_on(const std::string& machine, const std::vector<std::string>& args,
                      const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const Result result = run_on(machine, args, environment);
  REQUIRE_MESSAGE(result.code == kDone, machine, ": ", result.err);
  CHECK(result.err == "");
  return result.out;
}

/// True if this machine can run these kernels.
bool runs_here(const std::string& kernels) {
  return run_on("", {"inspect", "--config", demo_config()}, {{"ATTN_DEMO_CPU", kernels}}).code ==
         kDone;
}

/// Returns the largest difference between the numbers of two documents; ∞ if anything else
/// differs.
double distance(const Json& a, const Json& b) {
  constexpr double kElse = 1e30;
  if (a.is_number_float() && b.is_number_float()) {
    return std::abs(a.get<double>() - b.get<double>());
  }
  if (!a.is_structured()) return a == b ? 0.0 : kElse;
  if (a.type() != b.type() || a.size() != b.size()) return kElse;
  double largest = 0.0;
  if (a.is_array()) {
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, distance(a[i], b[i]));
    return largest;
  }
  for (const auto& [key, value] : a.items()) {
    largest = std::max(largest, b.contains(key) ? distance(value, b.at(key)) : kElse);
  }
  return largest;
}

}  // namespace

TEST_CASE("qemu-user is there") {
  const Result result =
      run_program({.args = {"qemu-x86_64", "--version"}, .program = "/usr/bin/env"});
  REQUIRE_MESSAGE(result.code == kDone,
                  "qemu-x86_64 is missing: install the package qemu-user (scripts/test.sh does)");
}

TEST_CASE("every CPU translates the demo sentence, alone and in a batch, with the same maps") {
  const std::string others[] = {"They went home.", "I have never seen such a big house before."};
  std::string with_avx2;
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const std::string alone = output_on(machine.name, {"translate", kSentence, "--json", "-"});
    const Json record = Json::parse(alone);
    CHECK(record["hypotheses"][0]["text"] == kTranslation);
    const std::vector<std::string> batch =
        lines_of(output_on(machine.name, {"translate", others[0], kSentence, others[1], "--threads",
                                          "2", "--json", "-"}));
    REQUIRE(batch.size() == 3);
    CHECK(batch[1] + "\n" == alone);

    if (machine.kernels == "avx2") {
      if (with_avx2.empty()) with_avx2 = alone;
      CHECK_MESSAGE(alone == with_avx2, "not the bits of the first machine with AVX2");
    }
    // On this machine, AVX2 and AVX-512 give the same bits. The portable kernels give the same
    // bits on all machines, except for functions of the system's math library, which has separate
    // code for CPUs with FMA.
    for (const std::string kernels : {"avx512", "avx2", "portable"}) {
      if ((kernels == "portable") != (machine.kernels == "portable") || !runs_here(kernels))
        continue;
      const std::string here =
          output_on("", {"translate", kSentence, "--json", "-"}, {{"ATTN_DEMO_CPU", kernels}});
      if (kernels == "portable") {
        CHECK(distance(Json::parse(here), record) < 1e-6);
      } else {
        CHECK_MESSAGE(alone == here, "not the bits of this machine's ", kernels);
      }
    }
  }
}

TEST_CASE("every CPU makes the same random weights, and updates them alike") {
  const TemporaryDirectory scene;
  std::string with_avx2;
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const std::string model = scene.file(machine.name);
    output_on(machine.name, {"init", "--config", demo_config(), "--seed", "7", "--out", model});
    CHECK(sha256_hex(bytes_of(model + "/model.safetensors")) ==
          sha256_hex(ModelFiles::good().files.at("model.safetensors")));

    const std::vector<std::string> train{
        "train", kRoot + "/configs/toy.json", "--set",     "train.updates=3",
        "--set", "train.validate_every=3",    "--threads", "2",
        "--out"};
    const auto trained = [&](const std::string& on, const std::string& kernels) {
      const std::string run = scene.file("run-" + on + kernels);
      std::vector<std::string> args = train;
      args.push_back(run);
      const Result result = run_on(on, args, {{"ATTN_DEMO_CPU", kernels}});
      REQUIRE_MESSAGE(result.code == kDone, result.err);
      return sha256_hex(bytes_of(run + "/model/model.safetensors"));
    };
    const std::string weights = trained(machine.name, "");
    if (machine.kernels != "avx2") continue;
    if (with_avx2.empty()) {
      with_avx2 = weights;
      for (const std::string kernels : {"avx512", "avx2"}) {
        if (runs_here(kernels)) {
          CHECK_MESSAGE(trained("", kernels) == weights, "not the bits of this machine's ",
                        kernels);
        }
      }
    }
    CHECK_MESSAGE(weights == with_avx2, "not the bits of the first machine with AVX2");
  }
}

TEST_CASE("the libraries around the kernels run on the oldest CPU, too") {
  const TemporaryDirectory scene;
  const Result views =
      run_on("Nehalem", {"translate", kSentence, "--svg", scene.file("maps.svg"), "--png",
                         scene.file("maps.png"), "--html", scene.file("maps.html")});
  REQUIRE_MESSAGE(views.code == kDone, views.err);
  for (const std::string& line : lines_of(views.err)) CHECK(line.starts_with("note: wrote "));
  CHECK(bytes_of(scene.file("maps.png")).starts_with("\x89PNG"));
  const std::string out = output_on("Nehalem", {"translate", kSentence});
  CHECK(lines_of(out).at(0) == kTranslation);
}

TEST_CASE("a CPU is not asked for what it lacks") {
  const auto refusal = [](const std::string& machine, const std::string& kernels) {
    const Result result = run_on(machine, {"translate", kSentence}, {{"ATTN_DEMO_CPU", kernels}});
    CHECK(result.code == kUsage);
    CHECK(result.out == "");
    return result.err;
  };
  const std::string lacks = ": this CPU has no such instructions; it runs ";
  CHECK(refusal("Nehalem", "avx2") == "attn-demo: ATTN_DEMO_CPU=avx2" + lacks + "portable\n");
  CHECK(refusal("Nehalem", "avx512") == "attn-demo: ATTN_DEMO_CPU=avx512" + lacks + "portable\n");
  CHECK(refusal("Haswell", "avx512") ==
        "attn-demo: ATTN_DEMO_CPU=avx512" + lacks + "portable and avx2\n");
}

}  // namespace attn::test
