#include "text/checksums.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::size_t kDigestDigits = 64;
constexpr const char* kListName = "SHA256SUMS";

/// Returns the name in a line "<64 digits>  <name>" of sha256sum; empty for any other line.
std::string_view listed_name(std::string_view line) {
  if (line.size() < kDigestDigits + 3 || line[kDigestDigits] != ' ') return {};
  const std::string_view digest = line.substr(0, kDigestDigits);
  if (digest.find_first_not_of("0123456789abcdefABCDEF") != digest.npos) return {};
  const char mode = line[kDigestDigits + 1];  // '*' means that the file was read as binary
  if (mode != ' ' && mode != '*') return {};
  std::string_view name = line.substr(kDigestDigits + 2);
  if (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

}  // namespace

Checksums parse_checksums(std::string_view list, const std::string& where) {
  Checksums checksums;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(list)) {
    ++number;
    if (line.empty()) continue;
    const std::string_view name = listed_name(line);
    if (name.empty()) {
      throw InputError("{}: line {}: expected 64 hexadecimal digits, two spaces and a name", where,
                       number);
    }
    std::string digest(line.substr(0, kDigestDigits));
    for (char& c : digest) c = static_cast<char>(c >= 'A' && c <= 'F' ? c | 0x20 : c);
    if (name == "source.spm") checksums.source = digest;
    if (name == "target.spm") checksums.target = digest;
  }
  return checksums;
}

void verify_checksums(const std::string& directory, std::string_view source_spm,
                      std::string_view target_spm) {
  const std::string where = directory + "/" + kListName;
  if (!file_exists(where)) return;
  const Checksums checksums = parse_checksums(read_file(where, std::size_t{1} << 20), where);
  if (checksums.source.empty() && checksums.target.empty()) return;
  const auto verify = [&](const char* name, const std::string& found, const std::string& expected) {
    if (expected.empty() || found == expected) return;
    throw InputError("{}/{}: its SHA-256 is {}…, but SHA256SUMS says {}…; copy the model again",
                     directory, name, found.substr(0, 12), expected.substr(0, 12));
  };
  const std::string source = sha256_hex(source_spm);
  verify("source.spm", source, checksums.source);
  verify("target.spm", target_spm == source_spm ? source : sha256_hex(target_spm),
         checksums.target);
}

void write_checksums(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name != kListName && file_exists(directory + "/" + name)) names.push_back(name);
  }
  if (error) throw_system_error(directory, "cannot read the directory", error.value());
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) {
    const MappedFile file(directory + "/" + name);
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    list += sha256_hex(bytes) + "  " + name + "\n";
  }
  write_file(directory + "/" + kListName, list);
}

}  // namespace attn
