#include <expat.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/test_set/markup_readers.h"

namespace attn {
namespace {

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser>;

Parser make_parser() {
  Parser parser(XML_ParserCreate(nullptr));
  if (parser == nullptr) throw std::bad_alloc();
  return parser;
}

/// Parses in parts, because expat counts bytes as int.
bool parse(XML_Parser parser, std::string_view bytes) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  do {
    const std::size_t size = std::min(kPart, bytes.size());
    const bool last = size == bytes.size();
    if (XML_Parse(parser, bytes.data(), static_cast<int>(size), last ? 1 : 0) != XML_STATUS_OK) {
      return false;
    }
    bytes.remove_prefix(size);
  } while (!bytes.empty());
  return true;
}

std::size_t line_of(XML_Parser parser) {
  return XML_GetCurrentLineNumber(parser);
}

/// Passes expat's events to a builder. An exception ends the parse and waits in `error`, because
/// expat is C code.
struct Events {
  XML_Parser parser = nullptr;
  TestSetBuilder* builder = nullptr;
  std::exception_ptr error;

  template <typename F>
  void guard(F&& action) noexcept {
    if (error) return;
    try {
      action();
    } catch (...) {
      error = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

Events& events(void* data) {
  return *static_cast<Events*>(data);
}

void on_start(void* data, const XML_Char* name, const XML_Char** attributes) {
  Events& e = events(data);
  e.guard([&] {
    MarkupAttributes found;
    for (; *attributes != nullptr; attributes += 2) found.emplace(attributes[0], attributes[1]);
    e.builder->start(name, found, line_of(e.parser));
  });
}

void on_end(void* data, const XML_Char* /*name*/) {
  Events& e = events(data);
  e.guard([&] { e.builder->end(line_of(e.parser)); });
}

void on_text(void* data, const XML_Char* text, int size) {
  Events& e = events(data);
  e.guard([&] { e.builder->text({text, static_cast<std::size_t>(size)}, line_of(e.parser)); });
}

void on_entity(void* data) {
  Events& e = events(data);
  e.guard([&] {
    e.builder->fail(line_of(e.parser),
                    "declares an entity; expected a document without entities of its own");
  });
}

void on_skipped(void* data, const XML_Char* name, int /*parameter*/) {
  Events& e = events(data);
  e.guard([&] {
    e.builder->fail(line_of(e.parser), std::string("uses the entity &") + excerpt(name) +
                                           ";, which the document does not define; write the "
                                           "character itself");
  });
}

}  // namespace

void read_xml(std::string_view bytes, TestSetBuilder& builder) {
  const Parser parser = make_parser();
  Events state{parser.get(), &builder, nullptr};
  XML_SetUserData(parser.get(), &state);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetEntityDeclHandler(parser.get(),
                           [](void* data, auto... /*declaration*/) { on_entity(data); });
  XML_SetSkippedEntityHandler(parser.get(), on_skipped);
  if (parse(parser.get(), bytes)) return;
  if (state.error) std::rethrow_exception(state.error);
  const XML_Error code = XML_GetErrorCode(parser.get());
  if (code == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
  builder.fail(line_of(parser.get()),
               fmt::format("not well-formed XML: {}; correct the file, or give plain text with one "
                           "sentence per line",
                           XML_ErrorString(code)));
}

bool is_well_formed_xml(std::string_view bytes) {
  const Parser parser = make_parser();
  return parse(parser.get(), bytes);
}

}  // namespace attn
