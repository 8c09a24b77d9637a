// What is around every picture: title, sentence, model, panels side by side or one above the other,
// legend.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// A part of a picture: SVG elements that lie within 0 … width and 0 … height, in pixels.
struct Panel {
  std::string svg;
  double width = 0;
  double height = 0;
};

struct PictureText {
  std::string title;                   ///< in large letters, and the file's <title>
  std::string description;             ///< how to read it: the file's <desc>, for who cannot see it
  std::vector<std::string> sentences;  ///< source and translation
  std::string model;                   ///< one quiet line
};

/// "en-de · 3 + 3 layers · 4 heads · d_model 256": never more of a path than its last part. Random
/// weights and a training run's update are named.
std::string model_line(const ModelSummary& model);

/// The source sentence and "→ " with the hypothesis's text, where there is one.
std::vector<std::string> sentence_lines(const AttentionRecord& record, std::size_t hypothesis);

/// The whole file: XML, UTF-8. `kind_class` names the sort of picture in the root's class.
std::string framed_picture(const PictureText& text, std::string_view kind_class,
                           const std::vector<Panel>& panels, const Panel& legend);

// How the pictures of attention look: one style element for maps and search trees.

/// A <style> element and the <defs> of hatched cells. Level n of the colour scale (view/color.h) is
/// the class `sn`. The picture has its own ground, so that it is readable in a light page on a dark
/// desktop, too; printed, it is light.
std::string picture_style();

}  // namespace attn
