#include "options.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <utility>

#include "base/at.h"

namespace py = pybind11;

namespace attn {
namespace {

/// A value as a message shows it: true, not True.
std::string shown(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) {
    return value.cast<std::string>();
  }
  return py::str(value).cast<std::string>();
}

bool is_whole(const py::handle& value) {
  return py::isinstance<py::int_>(value) && !py::isinstance<py::bool_>(value);
}

std::optional<std::uint64_t> whole_of(const py::dict& given, const WholeField& field) {
  const char* key = field.name.data();
  if (!given.contains(key)) return std::nullopt;
  const py::handle value = given[key];
  if (!is_whole(value)) return parse_whole(field, shown(value));
  const std::uint64_t number = PyLong_AsUnsignedLongLong(value.ptr());
  const bool none = PyErr_Occurred() != nullptr;  // below 0, or beyond 64 bits
  PyErr_Clear();
  if (none || number < field.low || number > field.high) refuse_value(field, shown(value));
  return number;
}

std::optional<double> decimal_of(const py::dict& given, const DecimalField& field) {
  const char* key = field.name.data();
  if (!given.contains(key)) return std::nullopt;
  const py::handle value = given[key];
  if (!py::isinstance<py::float_>(value) && !is_whole(value)) {
    return parse_decimal(field, shown(value));
  }
  const double number = PyFloat_AsDouble(value.ptr());
  const bool none = PyErr_Occurred() != nullptr;  // beyond any double
  PyErr_Clear();
  if (none || !(number >= field.low && number <= field.high)) refuse_value(field, shown(value));
  return number;
}

}  // namespace

std::vector<std::string> list_of(const py::dict& given, const char* key) {
  if (!given.contains(key)) return {};
  return given[key].cast<std::vector<std::string>>();
}

std::optional<std::string> text_of(const py::dict& given, const char* key) {
  if (!given.contains(key)) return std::nullopt;
  return shown(given[key]);
}

ModelChoice model_choice(const py::dict& given) {
  ModelChoice choice;
  choice.models = list_of(given, "model");
  choice.maps_of = text_of(given, "maps_of").value_or("");
  choice.config = text_of(given, "config").value_or("");
  choice.preset = text_of(given, "preset").value_or("");
  choice.seed = whole_of(given, seed_field);
  choice.d_model = whole_of(given, d_model_field);
  choice.heads = whole_of(given, heads_field);
  choice.layers = whole_of(given, layers_field);
  choice.overrides = list_of(given, "set");
  choice.globals = text_of(given, "global").value_or("");
  choice.prefix = text_of(given, "prefix").value_or("");
  if (const auto precision = text_of(given, "precision")) {
    choice.precision = parse_precision(*precision);
  }
  return choice;
}

SearchOptions search_options(const py::dict& given) {
  SearchOptions options;
  for (const OptionSpec* option : search_options_at(in_python | in_python_translate)) {
    const std::string name(option->name);
    const char* key = name.c_str();
    if (is_whole(*option)) {
      const auto number = whole_of(given, whole_field(*option));
      if (number) set_whole(options, *option, *number);
    } else if (is_decimal(*option)) {
      const auto number = decimal_of(given, decimal_field(*option));
      if (number) set_decimal(options, *option, *number);
    } else if (is_list(*option)) {
      for (std::string& text : list_of(given, key)) set_text(options, *option, std::move(text));
    } else if (is_flag(*option)) {
      set_flag(options, *option, given.contains(key) && given[key].cast<bool>());
    } else if (const std::optional<std::string> text = text_of(given, key)) {
      read_option(options, *option, *text);
    }
  }
  return options;
}

WhatIfWords what_if_words(const py::dict& given) {
  return {list_of(given, "without"), list_of(given, "force"), list_of(given, "swap")};
}

TrainingRequest training_request(const py::dict& given) {
  TrainingRequest request;
  request.config = text_of(given, "config").value_or("");
  request.out = text_of(given, "out").value_or("");
  request.from = text_of(given, "from").value_or("");
  request.languages = {text_of(given, "source_lang").value_or(""),
                       text_of(given, "target_lang").value_or("")};
  request.resume = given.contains("resume");
  if (const auto threads = whole_of(given, whole_field(search_option("threads")))) {
    request.threads = to_int(*threads);
  }
  request.overrides = list_of(given, "set");
  return request;
}

}  // namespace attn
