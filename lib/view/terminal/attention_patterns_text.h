// The receptive field of tokens, on the terminal.
#pragma once

#include <string>
#include <vector>

#include "record/attention_cost.h"
#include "record/receptive_field.h"
#include "view/terminal/styled_text.h"
#include "view/terminal/table.h"

namespace attn {

/// Returns one row per layer: how many tokens a token has seen after it, and how far away they are.
Table receptive_field_table(const ReceptiveField& field, const std::string& title);

/// Returns the same table for patterns that depend on the tokens: bounds that hold for every
/// sentence.
Table receptive_bounds_table(const std::vector<ReceptiveFieldBounds>& bounds,
                             const std::string& title);

/// Returns the maximum number of token blocks of a picture in this window.
int max_receptive_blocks(const TerminalStyle& style);

/// Draws rows that see and columns that are seen. A cell is the number of layers after which that
/// happens, as 1 to 9 and a to z; a line explains this.
std::string receptive_field_text(const ReceptiveField& field, const TerminalStyle& style);

// The measured costs of attention alone, as tables for people.

/// Returns one row per kind and length, and the growth where it is known.
std::vector<Table> attention_cost_tables(const AttentionCosts& costs);

}  // namespace attn
