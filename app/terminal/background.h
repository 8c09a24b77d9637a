// What is behind the terminal's text: maps are painted so that more weight is further from it.
#pragma once

namespace attn {

/// Whether the terminal's background is light: as ATTN_DEMO_BACKGROUND says (light or dark;
/// UsageError for another word), else COLORFGBG, else the terminal itself, which is asked once
/// (OSC 11). Dark where nobody says.
bool background_is_light();

}  // namespace attn
