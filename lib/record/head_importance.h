// What each head is worth to the references: plain data for the views.
#pragma once

#include <cstddef>
#include <vector>

#include "config/attention_site.h"

namespace attn {

struct HeadImportance {
  AttentionSite site = AttentionSite::encoder_self;
  int layer = 0;
  int head = 0;
  double log_prob = 0;  ///< natural, a target token on average, with this head switched off
};

struct HeadImportanceReport {
  std::size_t pairs = 0;              ///< of sentences
  std::size_t tokens = 0;             ///< of the references, end symbols included
  double log_prob = 0;                ///< a token on average, with all heads
  std::vector<HeadImportance> heads;  ///< the one that is missed most first
};

}  // namespace attn
