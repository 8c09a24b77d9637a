#include "view/svg/search_tree_svg.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/at.h"
#include "view/sample_record.h"
#include "view/svg/picture_checks.h"

namespace attn {
namespace {

using namespace test;

enum State { dropped, kept, ended };

void add(AttentionRecord& record, int parent, const std::string& token, float log_prob,
         State state) {
  std::vector<SearchNode>& nodes = record.search->nodes;
  SearchNode node;
  node.parent = parent;
  const SearchNode* before = parent < 0 ? nullptr : &at(nodes, parent);
  node.step = before == nullptr ? 0 : before->step + 1;
  node.id = to_int(nodes.size()) + 100;
  node.token = token;
  node.log_prob = log_prob;
  node.sum = log_prob + (before == nullptr ? 0 : before->sum);
  node.score = node.sum / static_cast<float>(node.step + 1);
  node.kept = state == kept;
  node.ended = state == ended;
  nodes.push_back(node);
}

/// Returns a search with two beams; the translation is the path 0, 3, 7.
AttentionRecord searched() {
  AttentionRecord record = demo_record();
  record.search = SearchTree{2, 1, {}};
  add(record, -1, "▁Die", -0.5f, kept);
  add(record, -1, "▁Eine", -0.4f, kept);
  add(record, -1, "▁Das", -3, dropped);
  add(record, 0, "▁Gruppe", -0.1f, kept);
  add(record, 1, "▁Gr", -1.1f, kept);
  add(record, 0, "▁Band", -4, dropped);
  add(record, 4, "uppe", -0.3f, kept);
  add(record, 3, "</s>", -0.2f, ended);
  add(record, 6, "</s>", -0.05f, ended);
  add(record, 6, "▁und", -4, dropped);
  record.hypotheses[0].produced.ids = {100, 103, 107};
  return record;
}

TEST_CASE("search tree: each candidate with its exact numbers, token, state and place") {
  const AttentionRecord record = searched();
  const Document document = checked_picture(search_tree_svg(record));
  const std::vector<int> groups = document.find("g", "node");
  REQUIRE(groups.size() == record.search->nodes.size());
  std::vector<Point> boxes(groups.size());
  for (const int group : groups) {
    const Node& drawn = document.at(group);
    const auto index = to_size(std::stoi(drawn.get("id").substr(5)));
    const SearchNode& node = record.search->nodes[index];
    CHECK(drawn.get("data-parent") == std::to_string(node.parent));
    CHECK(drawn.get("data-token-id") == std::to_string(node.id));
    CHECK(read_weight(drawn.get("data-log-prob")) == node.log_prob);
    CHECK(read_weight(drawn.get("data-sum")) == node.sum);
    CHECK(read_weight(drawn.get("data-score")) == node.score);
    CHECK(drawn.has_class("kept") == node.kept);
    CHECK(drawn.has_class("ended") == node.ended);
    CHECK(drawn.has_class("dropped") == (!node.kept && !node.ended));
    CHECK(drawn.has_class("best") == (index == 0 || index == 3 || index == 7));
    const std::vector<int> texts = document.children(group, "text");
    REQUIRE(texts.size() == 2);
    CHECK(document.at(texts[1]).text == "−" + fmt::format("{:.2f}", -node.score));
    const std::vector<int> rects = document.children(group, "rect");
    REQUIRE(rects.size() == (node.ended ? 2u : 1u));
    boxes[index] = document.place(
        rects[0], {document.at(rects[0]).number("x"), document.at(rects[0]).number("y")});
  }
  CHECK(document.texts().find("‿uppe\n") != std::string::npos);
  CHECK(document.texts().find("Beam search, 2 beams\n") != std::string::npos);
  CHECK(document.texts().find("step 3\n") != std::string::npos);
  CHECK(document.texts().find("÷ length\n") != std::string::npos);
  // The winner is in a straight line, steps go from left to right, and no boxes overlap.
  CHECK(boxes[0].y == boxes[3].y);
  CHECK(boxes[3].y == boxes[7].y);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const int steps = record.search->nodes[a].step - record.search->nodes[b].step;
      CHECK((boxes[a].x > boxes[b].x) == (steps > 0));
      if (steps == 0) CHECK(std::abs(boxes[a].y - boxes[b].y) > 22);
    }
  }
}

TEST_CASE("search tree: lines never cross") {
  AttentionRecord record = demo_record();
  record.search = SearchTree{4, 1, {}};
  std::uint32_t state = 7;
  for (int i = 0; i < 200; ++i) {
    state = state * 1664525u + 1013904223u;
    const int newest = std::max(0, i - 12);
    const int parent = i < 8 ? -1 : newest + to_int(state >> 16) % (i - newest);
    add(record, parent, "▁x", -static_cast<float>(state >> 24) / 64, i % 2 == 0 ? kept : dropped);
  }
  record.hypotheses[0].produced.ids.clear();
  const TreeLayout layout = layout_tree(*record.search, best_hypothesis_node(record));
  for (const std::vector<int>& column : layout.columns) {
    for (std::size_t i = 1; i < column.size(); ++i) {
      const auto& above = at(layout.positions, column[i - 1]);
      const auto& below = at(layout.positions, column[i]);
      CHECK(below.row == above.row + 1);
      if (above.parent < 0) {
        CHECK(below.parent < 0);
      } else {
        CHECK(at(layout.positions, above.parent).row <= at(layout.positions, below.parent).row);
      }
    }
  }
  for (const auto& place : layout.positions) {
    if (place.best) CHECK(place.row == 0);
  }
  checked_picture(search_tree_svg(record));
}

TEST_CASE("search tree: the winner is the first hypothesis, else the best that ended") {
  AttentionRecord record = searched();
  CHECK(best_hypothesis_node(record) == 7);
  record.hypotheses[0].produced.ids = {101, 104, 106, 108};
  CHECK(best_hypothesis_node(record) == 8);
  record.hypotheses[0].produced.ids = {101, 104, 999};
  CHECK(best_hypothesis_node(record) == 7);  // −0.27 per token against −0.46
  record.search->nodes[7].score = std::nanf("");
  CHECK(best_hypothesis_node(record) == 8);
  record.search->nodes[7].ended = record.search->nodes[8].ended = false;
  CHECK(best_hypothesis_node(record) == 8);  // the deepest node
  record.search->nodes.clear();
  CHECK(best_hypothesis_node(record) == -1);
}

TEST_CASE("search tree: without a search the picture says so") {
  AttentionRecord record = demo_record();
  CHECK(checked_picture(search_tree_svg(record)).texts().find("no search was recorded\n") !=
        std::string::npos);
  record.search = SearchTree{};
  CHECK(checked_picture(search_tree_svg(record)).texts().find("no search was recorded\n") !=
        std::string::npos);
  checked_picture(search_tree_svg(AttentionRecord{}));
}

TEST_CASE("search tree: hostile tokens, odd numbers and wrong parents break nothing") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  AttentionRecord record = searched();
  record.search->length_penalty = 0.6f;
  record.source_text = "</text><script>alert(1)</script>";
  std::vector<SearchNode>& nodes = record.search->nodes;
  nodes[0].token = "</title></svg><script>alert(1)</script>" + std::string(200, 'W');
  nodes[1].token = "\x1b[31m\u202E\u2028\xff";
  nodes[2].token = "";
  nodes[4].token = "▁שלום";
  nodes[3].score = std::nanf("");
  nodes[4].score = infinity;
  nodes[5].score = -infinity;
  nodes[6].score = -1e30f;
  nodes[7].parent = 7;
  nodes[8].parent = 9;
  nodes[9].parent = -5;
  const std::string svg = search_tree_svg(record);
  const Document document = checked_picture(svg);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(document.find("g", "node").size() == nodes.size());
  CHECK(document.texts().find("NaN\n") != std::string::npos);
  CHECK(document.texts().find("÷ length^0.6\n") != std::string::npos);
  CHECK(svg == search_tree_svg(record));
}

}  // namespace
}  // namespace attn
