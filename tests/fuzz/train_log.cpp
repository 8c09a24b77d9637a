// Fuzzes train.jsonl, as read for drawing curves.
#include "train/run/training_log.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  fuzz::accepts([&] { parse_curve(bytes, "train.jsonl"); });
}
