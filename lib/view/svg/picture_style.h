// How the pictures of attention look: one style element for maps and search trees.
#pragma once

#include <string>

namespace attn {

/// A <style> element and the <defs> of hatched cells. Level n of the colour scale (view/color.h) is
/// the class `sn`. The picture has its own ground, so that it is readable in a light page on a dark
/// desktop, too; printed, it is light.
std::string picture_style();

}  // namespace attn
