// Fuzzes request bodies of every kind for the live page's server.
#include "service/api/api_request.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  Json body;
  if (!fuzz::accepts([&] { body = parse_body(bytes); })) return;
  for (const Endpoint kind : {Endpoint::translate, Endpoint::attend, Endpoint::page}) {
    fuzz::accepts([&] {
      const ApiRequest request = parse_request(body, kind);
      fuzz::require(request.text.size() <= max_text_bytes, "a text within its limit");
      fuzz::require(kind == Endpoint::page || !request.compare, "compare is the page's");
    });
  }
}
