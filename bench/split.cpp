// Splits each line of standard input into sentences and prints them separated by tabs, for
// scripts/checks/check_sentences.py.
#include <iostream>
#include <string>

#include "text/sentence_splitter.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const char* between = "";
    for (const attn::SentenceSpan& span : attn::split_sentences(line)) {
      std::cout << between << line.substr(span.begin, span.end - span.begin);
      between = "\t";
    }
    std::cout << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
