// train.jsonl as the curves are drawn from it.
#include "train/run/training_log.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  fuzz::accepts([&] { parse_curve(bytes, "train.jsonl"); });
}
