// The training curve as a picture: losses and scores over updates.
#pragma once

#include <string>

#include "record/training_curve.h"

namespace attn {

/// An SVG of text and lines (XML, UTF-8, valid on its own), readable on a light and a dark page:
/// above the training and validation loss, below BLEU and chrF, both over updates, with axes,
/// ticks at round numbers, a legend and the kept model marked. Any number of points, also none;
/// points that are not finite are left out.
std::string training_curve_svg(const TrainingCurve& curve);

}  // namespace attn
