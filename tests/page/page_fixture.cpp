// Writes the HTML page of the records that come on stdin, a JSON object a line.
#include <iostream>
#include <string>
#include <vector>

#include "view/page_html.h"

int main() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  std::cout << attn::page_html(lines) << std::flush;
  return std::cout ? 0 : 4;
}
