// Writes the HTML page of the records that come on stdin, a JSON object a line; one that begins
// {"format":"attn-demo.heads" holds the figures over all of them, and one that begins {"first": is
// a training run's curve.
#include <iostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/json/record_reader.h"
#include "view/page/page_html.h"

int main() {
  std::vector<std::string> records;
  std::vector<std::string> curves;
  std::string heads;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.starts_with("{\"format\":\"attn-demo.heads\"")) {
      heads = line;
    } else if (line.starts_with("{\"first\":")) {
      curves.push_back(line);
    } else {
      records.push_back(
          attn::page_record(attn::record_from_json(attn::Json::parse(line), "fixture"),
                            {.vectors = true, .search = true}));
    }
  }
  std::cout << attn::page_html({.records = records, .heads = heads, .curves = curves})
            << std::flush;
  return std::cout ? 0 : 4;
}
