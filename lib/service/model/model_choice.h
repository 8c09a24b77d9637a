// The model that the options choose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "compute/matmul.h"
#include "model/directory/safetensors.h"
#include "service/field_text.h"
#include "service/option_values.h"

namespace attn {

inline constexpr WholeField seed_field{"seed", 0, ~std::uint64_t{0}};
inline constexpr std::uint64_t max_dimension = std::uint64_t{1} << 62;
inline constexpr WholeField d_model_field{"d_model", 1, max_dimension};
inline constexpr WholeField heads_field{"heads", 1, max_dimension};
inline constexpr WholeField layers_field{"layers", 1, max_dimension};

/// The number format in which weights are multiplied.
enum class MatmulPrecision { float32, bfloat16, int8 };

/// The values of --precision, in the order of --help.
struct PrecisionName {
  std::string_view name;
  MatmulPrecision precision;
};
inline constexpr std::array precision_names = {PrecisionName{"float32", MatmulPrecision::float32},
                                               PrecisionName{"bfloat16", MatmulPrecision::bfloat16},
                                               PrecisionName{"int8", MatmulPrecision::int8}};

/// Returns the names with `separator` between them, and `last` before the last one.
std::string list_precisions(std::string_view separator, std::string_view last);

/// Throws UsageError for a word that is not the name of a precision.
MatmulPrecision parse_precision(const std::string& text);
std::string to_string(MatmulPrecision precision);

/// Returns the backend of a precision. Throws UsageError if this CPU does not support it, or if
/// the environment selects kernels that do not.
Backend backend_for(MatmulPrecision precision);

/// A directory, a config, a preset, or none of them. With none, the model is the shipped one, or a
/// random one if an option below requests it.
struct ModelChoice {
  std::vector<std::string> models;  ///< directories, or names in Hugging Face's cache
  std::string maps_of;  ///< if there are several: the one whose maps are shown, by directory or
                        ///< number, from 1
  std::string config;
  std::string preset;
  std::optional<std::uint64_t> seed;  ///< seed of random weights
  std::optional<std::uint64_t> d_model, heads, layers;
  std::vector<std::string> overrides;  ///< overrides of config keys: section.key=value
  std::string globals;                 ///< places of global tokens: "0,5", or "none"
  std::string prefix;                  ///< of every source text: "translate English to German: "
  MatmulPrecision precision = MatmulPrecision::float32;

  bool several() const { return models.size() > 1; }
  /// Returns the index of the model that `maps_of` names. Throws UsageError if it names none.
  std::size_t maps_index() const;
  bool changes_shape() const { return d_model || heads || layers; }
  /// True if an option requests random weights instead of the shipped model.
  bool asks_for_another() const { return changes_shape() || seed || !overrides.empty(); }

  /// Throws UsageError if two sources are named, or one with options that cannot change it.
  void check_one_source() const;
  /// Returns the shape as overrides of config keys, after the user's own.
  std::vector<std::string> all_overrides() const;
  /// Returns the positions of the global tokens below `positions`, ascending and without
  /// duplicates.
  std::vector<Index> global_positions(int positions) const;
  /// Describes the options that change a config's model, with their values if `with_values`.
  FieldText asked_changes(bool with_values) const;
};

// The type of a written model's weights, as a user names it.

/// Parses "float32", "float16", "bfloat16" or "int8". Throws UsageError for another word.
DType parse_dtype(const std::string& text);

}  // namespace attn
