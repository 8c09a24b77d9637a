// Writes the HTML page of the records that come on stdin, a JSON object a line; one that begins
// {"format":"attn-demo.heads" holds the figures over all of them.
#include <iostream>
#include <string>
#include <vector>

#include "view/page/page_html.h"

int main() {
  std::vector<std::string> lines;
  std::string heads;
  for (std::string line; std::getline(std::cin, line);) {
    (line.starts_with("{\"format\":\"attn-demo.heads\"") ? heads : lines.emplace_back()) = line;
  }
  std::cout << attn::page_html(lines, heads) << std::flush;
  return std::cout ? 0 : 4;
}
