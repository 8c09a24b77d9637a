// The frame of every picture: title, sentences, model, legend, and panels side by side or stacked.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// A part of a picture: SVG elements within 0 … width and 0 … height, in pixels.
struct Panel {
  std::string svg;
  double width = 0;
  double height = 0;
};

struct PictureText {
  std::string title;  ///< heading in large letters, and the file's <title>
  /// how to read the picture: the file's <desc>, for readers who cannot see it
  std::string description;
  std::vector<std::string> sentences;  ///< source and translation
  std::string model;                   ///< one line in small, muted text
};

/// Returns "en-de · 3 + 3 layers · 4 heads · d_model 256", with only the last part of a path.
/// Random weights and the update of a training run are named.
std::string model_line(const ModelSummary& model);

/// Returns the source sentence and, if the hypothesis exists, "→ " with its text.
std::vector<std::string> sentence_lines(const AttentionRecord& record, std::size_t hypothesis);

/// Returns the whole file: XML in UTF-8. `kind_class` becomes part of the root's class and names
/// the kind of picture.
std::string framed_picture(const PictureText& text, std::string_view kind_class,
                           const std::vector<Panel>& panels, const Panel& legend);

// The style of attention pictures, shared by maps and search trees.

/// Returns a <style> element and the <defs> of hatched cells. Level n of the color scale
/// (view/color.h) has the class `sn`. The picture has its own background, so that it is also
/// readable in a light page on a dark desktop; printed, it is light.
std::string picture_style();

}  // namespace attn
