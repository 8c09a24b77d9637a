// The readers of XML and of WMT's SGML. xml_reader.cpp uses expat; sgml_reader.cpp reads the few
// forms that WMT's test sets have.
#pragma once

#include <string_view>

#include "text/test_set/test_set_builder.h"

namespace attn {

/// Reads a whole document of XML 1.0. Throws InputError, beginning with path and line, if it is not
/// well-formed, declares entities or uses undefined ones. External entities are never read.
void read_xml(std::string_view bytes, TestSetBuilder& builder);

/// True if the bytes are one well-formed document of XML.
bool is_well_formed_xml(std::string_view bytes);

/// Reads SGML as WMT writes it. Unlike XML, names and attributes are case-insensitive, attributes
/// need no quotation marks, and a segment's text may have & and < that start nothing: it extends to
/// </seg>. Throws InputError, beginning with path and line, for elements that are not closed in
/// order, also if a segment's end is missing.
void read_sgml(std::string_view bytes, TestSetBuilder& builder);

}  // namespace attn
