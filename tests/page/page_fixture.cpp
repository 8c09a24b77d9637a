// Writes the HTML page of the records that come on stdin, a JSON object a line; one that begins
// {"format":"attn-demo.heads" holds the figures over all of them, and one that begins {"first": is
// a training run's curve.
#include <algorithm>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/json/record_reader.h"
#include "view/page/page_html.h"

/// A weight that is no number, which no record that is read may have.
constexpr float stands_for_nan = -99;

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
      attn::AttentionRecord record = attn::record_from_json(attn::Json::parse(line), "fixture");
      std::vector<float>& weights = record.encoder_self.weights;
      std::replace(weights.begin(), weights.end(), stands_for_nan,
                   std::numeric_limits<float>::quiet_NaN());
      records.push_back(attn::page_record(record, {.vectors = true, .search = true}));
    }
  }
  std::cout << attn::page_html({.records = records, .heads = heads, .curves = curves})
            << std::flush;
  return std::cout ? 0 : 4;
}
