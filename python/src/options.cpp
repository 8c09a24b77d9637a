#include "options.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace attn {
namespace {

/// Keeps a default that `field` may have.
void read(const py::dict& given, const char* key, std::string& field) {
  if (given.contains(key)) field = given[key].cast<std::string>();
}

}  // namespace

std::vector<std::string> list_of(const py::dict& given, const char* key) {
  if (!given.contains(key)) return {};
  return given[key].cast<std::vector<std::string>>();
}

std::string text_of(const py::dict& given, const char* key) {
  std::string text;
  read(given, key, text);
  return text;
}

ModelOptions model_options(const py::dict& given) {
  ModelOptions options;
  const std::vector<std::string> models = list_of(given, "model");
  if (!models.empty()) {
    options.model = models.front();
    options.more_models.assign(models.begin() + 1, models.end());
  }
  read(given, "maps_of", options.maps_of);
  read(given, "config", options.config);
  read(given, "preset", options.preset);
  read(given, "seed", options.seed);
  options.seed_given = given.contains("seed");
  read(given, "d_model", options.d_model);
  read(given, "heads", options.heads);
  read(given, "layers", options.layers);
  options.overrides = list_of(given, "set");
  read(given, "global", options.globals);
  read(given, "precision", options.precision);
  return options;
}

SearchOptions search_options(const py::dict& given) {
  SearchOptions options;
  read(given, "beam", options.beam);
  read(given, "n_best", options.n_best);
  read(given, "length_penalty", options.length_penalty);
  read(given, "early_stopping", options.early_stopping);
  read(given, "max_length", options.max_length);
  read(given, "threads", options.threads);
  read(given, "batch", options.batch);
  read(given, "split", options.split);
  return options;
}

WhatIfOptions what_if_options(const py::dict& given) {
  WhatIfOptions options;
  options.without = list_of(given, "without");
  options.force = list_of(given, "force");
  options.swap = list_of(given, "swap");
  return options;
}

TrainOptions train_options(const py::dict& given) {
  TrainOptions options;
  read(given, "config", options.config);
  read(given, "out", options.out);
  read(given, "from", options.from);
  read(given, "threads", options.threads);
  options.resume = given.contains("resume");
  options.overrides = list_of(given, "set");
  return options;
}

}  // namespace attn
