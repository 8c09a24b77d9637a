// The models that questions are about, whoever keeps them: a server, or a page that translates
// alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "service/model/open_model.h"

namespace attn {

class SearchQueue;

class ModelProvider {
 public:
  virtual ~ModelProvider() = default;

  /// The models that one can choose; the first is the one that counts where none is named.
  virtual const std::vector<std::string>& names() const = 0;

  /// A model, which may be loaded only now. It stays as long as this.
  virtual const ReadyModel& model(std::size_t number) = 0;

  /// In which its searches share steps; null: each has its own.
  virtual SearchQueue* queue(std::size_t /*number*/) { return nullptr; }
};

}  // namespace attn
