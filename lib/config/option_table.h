// One row for each option of a translation. The command line, Python's keyword arguments, the
// server's JSON, the C++ library and the documentation are all derived from these rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/search_options.h"

namespace attn {

using attn_demo::SearchOptions;

/// A place where a search option can be given. Sets of them are sums: `on_translate | on_server`.
enum OptionPlace : unsigned {
  on_translate = 1U << 0,  ///< attn-demo translate
  on_evaluate = 1U << 1,   ///< attn-demo evaluate
  on_explain = 1U << 2,    ///< attn-demo explain and why
  on_serve = 1U << 3,      ///< attn-demo serve
  in_python = 1U << 4,     ///< Model.translate, attend and why
  in_python_translate = 1U << 5,
  on_server = 1U << 6,   ///< a field of the server's JSON
  in_library = 1U << 7,  ///< the C++ library obeys it
};

/// The member that holds the option's value. Its type decides how text and JSON are read: numbers
/// are optional, an empty text counts as not given, and a flag is false unless given.
using OptionMember =
    std::variant<std::optional<int> SearchOptions::*, std::optional<std::uint64_t> SearchOptions::*,
                 std::optional<double> SearchOptions::*, std::size_t SearchOptions::*,
                 bool SearchOptions::*, std::string SearchOptions::*,
                 std::optional<std::string> SearchOptions::*,
                 std::vector<std::string> SearchOptions::*>;

/// One option of a translation.
struct OptionSpec {
  std::string_view name;  ///< in snake case: no_repeat_ngram for --no-repeat-ngram
  OptionMember member;
  unsigned places = 0;    ///< sum of OptionPlace
  std::uint64_t low = 0;  ///< smallest and largest value of an integer
  std::uint64_t high = 0;
  double decimal_low = 0;  ///< smallest and largest value of a number with a fraction
  double decimal_high = 0;
  std::span<const std::string_view> choices = {};  ///< values of a text; empty: any text
  std::string_view value_name = "";                ///< stands for the value in --help: "K"
  std::string_view fallback = "";                  ///< the value that applies if it is not given
  std::string_view needs = "";        ///< another option that must be given, too: "sample"
  std::string_view group = "";        ///< heading in --help
  std::string_view help = "";         ///< one sentence, without a full stop
  std::string_view server_name = "";  ///< key in the server's JSON if it differs from `name`
  std::uint64_t server_high = 0;      ///< largest value that the server accepts, if smaller
  /// Names of the same option in transformers, CTranslate2 and Marian, separated by spaces.
  std::string_view other_names = "";
};

/// All search options, in the order in which --help prints them.
std::span<const OptionSpec> search_option_table();

/// Returns the option of this name, which must exist.
const OptionSpec& search_option(std::string_view name);

/// Returns the option that another program calls `other_name`, such as num_beams or beam_size;
/// null if there is none.
const OptionSpec* search_option_called(std::string_view other_name);

/// Returns the options that can be given at any of `places`.
std::vector<const OptionSpec*> search_options_at(unsigned places);

// The values in SearchOptions (option_members.cpp).

/// True if the option's value is a whole number.
bool is_whole(const OptionSpec& option);
/// True if the option's value is a number that may have a fraction.
bool is_decimal(const OptionSpec& option);
inline bool is_flag(const OptionSpec& option) {
  return std::holds_alternative<bool SearchOptions::*>(option.member);
}
/// True if the option can be given more than once.
inline bool is_list(const OptionSpec& option) {
  return std::holds_alternative<std::vector<std::string> SearchOptions::*>(option.member);
}

/// True if the member differs from its default.
bool is_given(const SearchOptions& options, const OptionSpec& option);

/// Returns the value of a number that was given; nothing for other kinds of options.
std::optional<std::uint64_t> whole_in(const SearchOptions& options, const OptionSpec& option);
std::optional<double> decimal_in(const SearchOptions& options, const OptionSpec& option);

/// Stores a value, which must be in range and of the member's type; appends to a list.
void set_whole(SearchOptions& options, const OptionSpec& option, std::uint64_t value);
void set_decimal(SearchOptions& options, const OptionSpec& option, double value);
void set_flag(SearchOptions& options, const OptionSpec& option, bool value);
void set_text(SearchOptions& options, const OptionSpec& option, std::string value);

}  // namespace attn
