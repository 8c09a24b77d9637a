// How far a token sees, on the terminal.
#pragma once

#include <string>
#include <vector>

#include "record/attention_cost.h"
#include "record/receptive_field.h"
#include "view/terminal/styled_text.h"
#include "view/terminal/table.h"

namespace attn {

/// A row a layer: how many tokens a token has seen after it, and how far away.
Table receptive_field_table(const ReceptiveField& field, const std::string& title);

/// The same where the tokens decide: what holds for every sentence.
Table receptive_bounds_table(const std::vector<ReceptiveFieldBounds>& bounds,
                             const std::string& title);

/// How many blocks of tokens a picture in this window has at most.
int max_receptive_blocks(const TerminalStyle& style);

/// Rows see, columns are seen: after how many layers, as 1 to 9 and a to z, with a line that says
/// so.
std::string receptive_field_text(const ReceptiveField& field, const TerminalStyle& style);

// What attention alone takes, as tables for people.

/// A row a kind and length; and how they grow, where that is known.
std::vector<Table> attention_cost_tables(const AttentionCosts& costs);

}  // namespace attn
