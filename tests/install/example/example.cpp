#include <attn_demo/attn_demo.h>

#include <cstdio>

int main() {
  const attn_demo::Model model;
  const attn_demo::Attention a = model.attend("The group went home");
  std::printf("%s\n", a.text.c_str());
  for (int query = 0; query < a.cross.queries; ++query) {
    std::printf("%s %.2f\n", a.tokens[std::size_t(query)].c_str(), a.cross.at(2, 2, query, 2));
  }
  attn_demo::Search greedy;
  greedy.beam = 1;
  for (const std::string& text : model.translate({"They are at work.", ""}, greedy)) {
    std::printf("[%s]\n", text.c_str());
  }
  try {
    attn_demo::Model("nowhere");
  } catch (const attn_demo::Error& error) {
    std::printf("%d %s\n", error.exit_code, error.what());
  }
}
