// short_run RUNS SEEDS: a target of tests/fuzz without a fuzzer. Runs it on each file of the folder
// SEEDS and on RUNS inputs that are made of them by chance, always the same ones.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string input;  ///< of the run that is going on

/// Printed where a run ends the program, to be tried again.
extern "C" void show_input(int number) {
  std::fputs("short_run: found by this input, in hex: ", stderr);
  for (const char c : input) std::fprintf(stderr, "%02x", static_cast<unsigned char>(c));
  std::fputs("\n", stderr);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void run() {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutation {
 public:
  explicit Mutation(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string make() {
    std::string made = some_seed();
    for (std::size_t n = below(4) + 1; n > 0; --n) change(made);
    return made;
  }

 private:
  std::size_t below(std::size_t end) { return chance_() % end; }
  const std::string& some_seed() { return seeds_[below(seeds_.size())]; }

  void change(std::string& made) {
    const std::size_t at = below(made.size() + 1);
    switch (below(4)) {
      case 0:
        made.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        made.erase(at, below(8) + 1);
        break;
      case 2:
        if (at < made.size()) made[at] = static_cast<char>(below(256));
        break;
      default: {
        const std::string& other = some_seed();
        made.insert(at, other, below(other.size() + 1), below(24) + 1);
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937 chance_{1};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: short_run RUNS SEEDS\n", stderr);
    return 2;
  }
  for (const int number : {SIGABRT, SIGSEGV}) std::signal(number, show_input);
  std::vector<std::string> paths, seeds;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) return 2;
  for (const std::string& seed : seeds) {
    input = seed;
    run();
  }
  Mutation mutation(seeds);
  for (int runs = std::atoi(argv[1]); runs > 0; --runs) {
    input = mutation.make();
    run();
  }
  return 0;
}
