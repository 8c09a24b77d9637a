// Fuzzes word alignments in Pharaoh format: written links must be the same when read again.
#include "analysis/pharaoh.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  std::vector<GoldAlignment> lines;
  if (!fuzz::accepts([&] { lines = parse_pharaoh(bytes, "test.align"); })) return;
  for (const GoldAlignment& links : lines) {
    std::string line;
    for (const GoldLink& link : links) {
      fuzz::require(link.source >= 0 && link.target >= 0 && link.weight >= 0, "counted from 0");
      line +=
          fmt::format("{}{}{}:{} ", link.source, link.sure ? '-' : 'p', link.target, link.weight);
    }
    const GoldAlignment again = parse_pharaoh_line(line, "written");
    fuzz::require(again.size() == links.size(), "as many links");
    for (std::size_t i = 0; i < links.size(); ++i) {
      fuzz::require(again[i].source == links[i].source && again[i].target == links[i].target &&
                        again[i].sure == links[i].sure && again[i].weight == links[i].weight,
                    "a link is read as it was written");
    }
  }
}
