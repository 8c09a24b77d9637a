#include "view/page/page_html.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/strings/base64.h"
#include "base/strings/sha256.h"
#include "record/json/json_parts.h"
#include "record/json/record_json.h"
#include "record/json/record_reader.h"
#include "view/page/page_sources.h"

namespace attn {
namespace {

/// Formats the digest for a content security policy: "sha256-" and base64.
std::string csp_hash(std::string_view bytes) {
  const std::string hex = sha256_hex(bytes);
  std::string digest;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    digest += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  std::string out = "sha256-";
  append_base64(out, digest);
  return out;
}

/// Appends JSON that is safe inside a script element: without "<" and JavaScript's line separators.
void append_script_safe(std::string& out, std::string_view json) {
  constexpr std::string_view line_separator = "\xE2\x80\xA8";
  constexpr std::string_view paragraph_separator = "\xE2\x80\xA9";
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t next = std::min(json.find_first_of("<\xE2", at), json.size());
    out += json.substr(at, next - at);
    if (next == json.size()) return;
    const std::string_view rest = json.substr(next);
    at = next + 1;
    if (rest.front() == '<') {
      out += "\\u003c";
    } else if (rest.starts_with(line_separator) || rest.starts_with(paragraph_separator)) {
      out += rest.starts_with(line_separator) ? "\\u2028" : "\\u2029";
      at = next + line_separator.size();
    } else {
      out += rest.front();
    }
  }
}

/// Joins all scripts into one function scope, so that they define no global names.
std::string whole_script() {
  std::string script = "\"use strict\";\n(() => {\n";
  for (const std::string_view part : page_scripts) script += part;
  return script + "})();\n";
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Returns safe JSON on one line, of a record or of metrics.
std::string script_safe_json(std::string_view json) {
  std::string out;
  append_script_safe(out, trimmed(json));
  return out;
}

void append_page_data(std::string& out, const PageData& data) {
  JsonWriter json(out);
  json.object([&] {
    json.member("format", "attn-demo.page");
    json.member("version", 2);
    if (data.embed) json.member("embed", true);
    if (data.words) json.member("words", true);
    json.key("records");
    json.array(data.records,
               [&](const std::string& record) { json.raw_value(script_safe_json(record)); });
    if (!data.heads.empty()) {
      json.member("heads", [&] { json.raw_value(script_safe_json(data.heads)); });
      json.key("best");
      write_head_indices(json, best_heads(read_head_report_line(data.heads, "heads").cross));
    }
    if (!data.curves.empty()) {
      json.key("curves");
      json.array(data.curves, [&](const std::string& curve) { json.raw_value(curve); });
    }
    if (!data.live.empty())
      json.member("live", [&] { json.raw_value(script_safe_json(data.live)); });
  });
}

enum class PageBackend { none, server, module };

/// Returns a policy that allows the page its own script and style and, if it has a backend,
/// requests to its own server or its own WebAssembly module.
std::string content_security_policy(const std::string& script, PageBackend backend) {
  const bool alone = backend == PageBackend::module;
  return fmt::format(
      "default-src 'none'; script-src '{}'{}; style-src '{}'; {}base-uri 'none'; form-action "
      "'none'; "
      "require-trusted-types-for 'script'{}",
      csp_hash(script), alone ? " 'wasm-unsafe-eval'" : "", csp_hash(page_style),
      alone                            ? "worker-src blob:; "
      : backend == PageBackend::server ? "connect-src 'self'; "
                                       : "",
      alone ? "; trusted-types attn-worker" : "");
}

PageBackend backend(const PageData& data) {
  if (!data.packed.empty()) return PageBackend::module;
  return data.live.empty() ? PageBackend::none : PageBackend::server;
}

}  // namespace

std::string page_record(const AttentionRecord& record, PageDetail detail) {
  std::string line = to_json_line(record, {.vectors = detail.vectors,
                                           .search = detail.search,
                                           .receipts = detail.receipts,
                                           .packed = true});
  line.pop_back();
  return line;
}

std::string page_data(const PageData& data) {
  std::string out;
  append_page_data(out, data);
  return out;
}

std::string live_page_policy(std::span<const std::string> frame_origins) {
  return fmt::format(
      "{}; frame-ancestors {}", content_security_policy(whole_script(), PageBackend::server),
      frame_origins.empty() ? "'none'" : fmt::format("{}", fmt::join(frame_origins, " ")));
}

std::string page_html(const PageData& data) {
  const std::string script = whole_script();
  std::size_t size = page_template.size() + page_style.size() + script.size() + 256;
  for (const std::string& record : data.records) size += record.size() + record.size() / 64 + 1;
  std::string out;
  out.reserve(size);
  // One pass over the template: inserted text is never searched for placeholders.
  for (std::size_t at = 0; at < page_template.size();) {
    const std::size_t mark = std::min(page_template.find('@', at), page_template.size());
    out += page_template.substr(at, mark - at);
    if (mark == page_template.size()) break;
    const std::size_t end = page_template.find('@', mark + 1);
    const std::string_view name = page_template.substr(mark + 1, end - mark - 1);
    if (name == "STYLE") {
      out += page_style;
    } else if (name == "SCRIPT") {
      out += script;
    } else if (name == "POLICY") {
      out += content_security_policy(script, backend(data));
    } else if (name == "DATA") {
      append_page_data(out, data);
    } else if (name == "PACKED") {
      out += data.packed;
    } else {
      throw std::logic_error("lib/view/page/page.html: unknown mark @" + std::string(name) + "@");
    }
    at = end + 1;
  }
  return out;
}

std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.member("first", first);
    json.member("end", end);
    json.key("train");
    json.array(curve.train, [&](const TrainingCurve::Loss& point) {
      json.array([&] {
        json.value(point.update);
        json.number_or_null(point.loss);
      });
    });
    json.key("validations");
    json.array(curve.validations, [&](const TrainingCurve::Validation& point) {
      json.array([&] {
        json.value(point.update);
        for (const double value : {point.loss, point.bleu, point.chrf}) json.number_or_null(value);
      });
    });
    if (curve.best_update) json.member("best", *curve.best_update);
  });
  return out;
}

}  // namespace attn
