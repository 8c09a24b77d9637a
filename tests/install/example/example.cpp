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

/// Prints where each word came from; the shares add up to its logit.
void explain(const attn_demo::Model& model) {
  const char* text = "The group went home";
  const attn_demo::Why all = model.why(text);
  std::printf("%s: %zu words\n", all.text.c_str(), all.words.size());
  attn_demo::WhyQuestion question;
  question.target = "Die Gruppe ging heim";
  question.word = "Gruppe";
  question.instead = "Mannschaft";
  const attn_demo::WordReceipt word = model.why(text, question).words.at(0);
  std::printf("%s %d %d %s %s", word.text.c_str(), word.first, word.count, word.token.c_str(),
              word.runner_up.c_str());
  for (const attn_demo::Shares& shares : {word.logit, word.over_runner_up}) {
    std::printf(" %.3f =", shares.total());
    for (const attn_demo::Share& share : shares.source) {
      std::printf(" %s %.3f", share.text.c_str(), share.value);
    }
    for (const attn_demo::Share& share : shares.prefix) {
      std::printf(" %s %.3f", share.text.c_str(), share.value);
    }
    std::printf(" rest %.3f", shares.rest());
  }
  std::printf("\n");
  question.word = "Haus";
  try {
    model.why(text, question);
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
  explain(model);
}
