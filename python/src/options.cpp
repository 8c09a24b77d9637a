#include "options.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace py = pybind11;

namespace attn {
namespace {

/// Returns a value as messages show it: true, not True.
std::string to_text(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) {
    return value.cast<std::string>();
  }
  return py::str(value).cast<std::string>();
}

bool is_integer(const py::handle& value) {
  return py::isinstance<py::int_>(value) && !py::isinstance<py::bool_>(value);
}

std::optional<std::uint64_t> optional_integer(const py::dict& kwargs, const WholeField& field) {
  const char* key = field.name.data();
  if (!kwargs.contains(key)) return std::nullopt;
  const py::handle value = kwargs[key];
  if (!is_integer(value)) return parse_whole(field, to_text(value));
  const std::uint64_t number = PyLong_AsUnsignedLongLong(value.ptr());
  const bool none = PyErr_Occurred() != nullptr;  // negative, or more than 64 bits
  PyErr_Clear();
  if (none || number < field.low || number > field.high) refuse_value(field, to_text(value));
  return number;
}

std::optional<double> optional_float(const py::dict& kwargs, const DecimalField& field) {
  const char* key = field.name.data();
  if (!kwargs.contains(key)) return std::nullopt;
  const py::handle value = kwargs[key];
  if (!py::isinstance<py::float_>(value) && !is_integer(value)) {
    return parse_decimal(field, to_text(value));
  }
  const double number = PyFloat_AsDouble(value.ptr());
  const bool none = PyErr_Occurred() != nullptr;  // out of a double's range
  PyErr_Clear();
  if (none || !(number >= field.low && number <= field.high)) refuse_value(field, to_text(value));
  return number;
}

}  // namespace

std::vector<std::string> string_list(const py::dict& kwargs, const char* key) {
  if (!kwargs.contains(key)) return {};
  return kwargs[key].cast<std::vector<std::string>>();
}

std::optional<std::string> optional_text(const py::dict& kwargs, const char* key) {
  if (!kwargs.contains(key)) return std::nullopt;
  return to_text(kwargs[key]);
}

ModelChoice model_choice(const py::dict& kwargs) {
  ModelChoice choice;
  choice.models = string_list(kwargs, "model");
  choice.maps_of = optional_text(kwargs, "maps_of").value_or("");
  choice.config = optional_text(kwargs, "config").value_or("");
  choice.preset = optional_text(kwargs, "preset").value_or("");
  choice.seed = optional_integer(kwargs, seed_field);
  choice.d_model = optional_integer(kwargs, d_model_field);
  choice.heads = optional_integer(kwargs, heads_field);
  choice.layers = optional_integer(kwargs, layers_field);
  choice.overrides = string_list(kwargs, "set");
  choice.globals = optional_text(kwargs, "global").value_or("");
  choice.prefix = optional_text(kwargs, "prefix").value_or("");
  if (const auto precision = optional_text(kwargs, "precision")) {
    choice.precision = parse_precision(*precision);
  }
  return choice;
}

SearchOptions search_options(const py::dict& kwargs) {
  SearchOptions options;
  for (const OptionSpec* option : search_options_at(in_python | in_python_translate)) {
    const std::string name(option->name);
    const char* key = name.c_str();
    if (is_whole(*option)) {
      const auto number = optional_integer(kwargs, whole_field(*option));
      if (number) set_whole(options, *option, *number);
    } else if (is_decimal(*option)) {
      const auto number = optional_float(kwargs, decimal_field(*option));
      if (number) set_decimal(options, *option, *number);
    } else if (is_list(*option)) {
      for (std::string& text : string_list(kwargs, key))
        set_text(options, *option, std::move(text));
    } else if (is_flag(*option)) {
      set_flag(options, *option, kwargs.contains(key) && kwargs[key].cast<bool>());
    } else if (const std::optional<std::string> text = optional_text(kwargs, key)) {
      read_option(options, *option, *text);
    }
  }
  return options;
}

WhatIfOptions what_if_words(const py::dict& kwargs) {
  return {string_list(kwargs, "without"), string_list(kwargs, "force"),
          string_list(kwargs, "swap")};
}

WhyQuestion why_question(const py::dict& kwargs) {
  WhyQuestion question;
  if (const auto methods = optional_text(kwargs, "methods")) {
    question.methods = for_field("methods", [&] { return parse_why_methods(*methods); });
  }
  const std::string units = optional_text(kwargs, "units").value_or("words");
  if (units != "words" && units != "tokens") {
    for_field("units", [&] { throw UsageError("{}: expected words or tokens", excerpt(units)); });
  }
  question.by_tokens = units == "tokens";
  question.target = optional_text(kwargs, "target");
  question.word = optional_text(kwargs, "word").value_or("");
  question.instead = optional_text(kwargs, "instead").value_or("");
  question.corrupt = optional_text(kwargs, "corrupt").value_or("");
  return question;
}

TrainingRequest training_request(const py::dict& kwargs) {
  TrainingRequest request;
  request.config = optional_text(kwargs, "config").value_or("");
  request.out = optional_text(kwargs, "out").value_or("");
  request.from = optional_text(kwargs, "from").value_or("");
  request.languages = {optional_text(kwargs, "source_lang").value_or(""),
                       optional_text(kwargs, "target_lang").value_or("")};
  request.resume = kwargs.contains("resume");
  if (const auto threads = optional_integer(kwargs, whole_field(search_option("threads")))) {
    request.threads = to_int(*threads);
  }
  request.overrides = string_list(kwargs, "set");
  return request;
}

}  // namespace attn
