#include "markup/placement.h"

#include <algorithm>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/item_placer.h"
#include "markup/text_layout.h"
#include "markup/unit_alignment.h"

namespace attn {
namespace {

/// Writes the translation with its markup.
class MarkupWriter {
 public:
  MarkupWriter(const MarkedSegment& segment, std::string_view translation,
               const UnitAlignment& units)
      : segment_(segment), translation_(translation), units_(units) {
    assign_spaces();
    std::size_t count = 0;
    for (const MarkupItem& item : segment.items) {
      placeholders_.push_back(count);
      count += item.placeholder ? 1 : 0;
    }
  }

  std::string write(const std::vector<PlacedItem>& items) {
    auto next = items.begin();
    const auto write_slot = [&](Slot slot) {
      for (; next != items.end() && next->slot <= slot; ++next) {
        write_item(next->item, slot_before(0) < slot && slot < slot_behind(units_.target.size()));
      }
    };
    const std::size_t count = units_.target.size();
    for (std::size_t k = 0; k <= count; ++k) {
      write_slot(slot_behind(k));
      write_gap(k);
      write_slot(slot_before(k));
      if (k == count) break;
      const Unit& unit = units_.target[k];
      if (wants_space_ && !unit.punctuation) add_space();
      wants_space_ = false;
      write_text(translation_.substr(unit.begin, unit.end - unit.begin));
    }
    return std::move(out_);
  }

 private:
  std::string_view gap(std::size_t k) const {
    const std::size_t begin = k == 0 ? 0 : units_.target[k - 1].end;
    const std::size_t end =
        k == units_.target.size() ? translation_.size() : units_.target[k].begin;
    return translation_.substr(begin, end - begin);
  }

  /// Finds the gap between words for each line break and each no-break space.
  void assign_spaces() {
    const std::size_t count = units_.target.size();
    gaps_.assign(count + 1, nullptr);
    std::size_t free = 1;  // spaces stay in order
    for (const MarkupItem& item : segment_.items) {
      if (item.type != ItemType::space) continue;
      const std::size_t next = units_.source_at(item.offset);
      std::size_t k = kNowhere;
      if (next < units_.source.size()) k = units_.first_of(next);
      if (k == kNowhere && next > 0 && units_.last_of(next - 1) != kNowhere) {
        k = units_.last_of(next - 1) + 1;
      }
      k = std::max(k == kNowhere ? free : k, free);
      while (k < count && gap(k).empty()) ++k;
      if (k >= count) continue;  // without a gap the whitespace is omitted
      gaps_[k] = &item;
      free = k + 1;
    }
  }

  void write_gap(std::size_t k) {
    const std::string_view text = gap(k);
    const MarkupItem* const own = gaps_[k];
    if (own != nullptr) {
      out_ += own->bytes;
    } else {
      write_text(text);
    }
    if (own != nullptr || !text.empty()) wants_space_ = false;
  }

  /// Writes an item; `inside`: not at an end of the translation.
  void write_item(int index, bool inside) {
    const MarkupItem& item = at(segment_.items, index);
    // Spaces in an element at the source's end are omitted if the element is elsewhere in the
    // translation.
    if (inside && std::ranges::all_of(item.bytes, is_ascii_space)) return;
    const bool visible = is_visible(index);
    if (visible && item.type != ItemType::close) {
      if (wants_space_ || item.space_before) add_space();
    }
    out_ += item.bytes;
    if (visible) wants_space_ = item.type != ItemType::open && item.space_after;
  }

  /// True for placeholders, and for elements that contain nothing else.
  bool is_visible(int index) const {
    const MarkupItem& item = at(segment_.items, index);
    if (item.partner < 0) return item.placeholder;
    const MarkupItem& partner = at(segment_.items, item.partner);
    return item.offset == partner.offset &&
           at(placeholders_, index) != at(placeholders_, item.partner);
  }

  void add_space() {
    if (!out_.empty() && !is_ascii_space(out_.back())) out_ += ' ';
    wants_space_ = false;
  }

  void write_text(std::string_view text) {
    if (!segment_.html) {
      out_ += text;
      return;
    }
    while (!text.empty()) {
      const std::size_t length = decode_code_point(text).length;
      write_character(std::string(text.substr(0, length)), text.substr(length));
      text.remove_prefix(length);
    }
  }

  void write_character(const std::string& character, std::string_view rest) {
    const auto known = segment_.entities.find(character);
    if (known != segment_.entities.end()) {
      out_ += known->second;
    } else if (character == "&" && !(segment_.bare_ampersand && rest.empty())) {
      out_ += "&amp;";
    } else if (character == "<") {
      out_ += "&lt;";
    } else if (character == ">") {
      out_ += "&gt;";
    } else {
      out_ += character;
    }
  }

  const MarkedSegment& segment_;
  std::string_view translation_;
  const UnitAlignment& units_;
  std::vector<const MarkupItem*> gaps_;    ///< what replaces the whitespace before each unit
  std::vector<std::size_t> placeholders_;  ///< number of placeholders before each item
  std::string out_;
  bool wants_space_ =
      false;  ///< the last item was a placeholder that has a space after it in the source
};

}  // namespace

std::string place_markup(const MarkedSegment& segment, std::string_view translation,
                         std::span<const AlignedSpan> alignment) {
  const UnitAlignment units(segment, translation, alignment);
  return MarkupWriter(segment, translation, units).write(place_items(segment, units));
}

}  // namespace attn
