// The training curve as a picture: losses and scores over updates.
#pragma once

#include <string>

#include "record/training_curve.h"

namespace attn {

/// Draws a valid standalone SVG (XML, UTF-8) of text and lines that is readable on light and dark
/// pages: the training and validation loss at the top, BLEU and chrF below, both over updates, with
/// axes, ticks at round numbers and a legend. The kept model is marked. There may be any number of
/// points, including none; points that are not finite are left out.
std::string training_curve_svg(const TrainingCurve& curve);

}  // namespace attn
