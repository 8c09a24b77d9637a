#include <attn_demo/attn_demo.h>

#include <cstdio>

/// Translates with a multilingual model: chooses a language, and puts a prefix before the text.
void speak(const char* directory) {
  attn_demo::Search search;
  search.source_lang = "fr";
  search.target_lang = "German";
  search.prefix = "the ";
  search.max_length = 3;
  const attn_demo::Model model(directory);
  const attn_demo::Attention a = model.attend("home", search);
  std::printf("%s %zu %s\n", a.source_tokens.front().c_str(), a.source_tokens.size(),
              a.tokens.front().c_str());
  search.prefix = "";
  std::printf("%zu\n", model.attend("the home", search).source_tokens.size());
  search.target_lang = "Germn";
  try {
    model.translate({"home"}, search);
  } catch (const attn_demo::Error& error) {
    std::printf("%d %s\n", error.exit_code, error.what());
  }
}

int main(int, char** arguments) {
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
  speak(arguments[1]);
}
