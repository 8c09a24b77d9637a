#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "config/attention_site.h"
#include "record/best_keys.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/svg_text.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double strip_left = 54;     // room for "round 12"
constexpr double strip_top = 62;      // below the headings
constexpr double bucket_height = 14;  // of a bucket's number over its first token
constexpr double strip_gap = 8;
constexpr int max_in_line = 64;  // tokens
constexpr int bucket_colors = 4;
constexpr double strip_label = 110;  // pixels that labels hang down

class LshBucketStrips {
 public:
  LshBucketStrips(const MapSource& source, HeadIndex place)
      : source_(source),
        place_(place),
        order_(source.maps.hashed(place.layer, place.head)->order),
        cell_(source.maps.queries <= max_in_line ? 20 : 12),
        labels_(plan_labels(cell_, 11)),
        label_height_(widest_label(source.axes.columns, labels_, strip_label)) {}

  Panel draw() {
    const LshRecall found = lsh_recall(source_.maps, place_.layer, place_.head);
    const std::string heading = fmt::format(
        "{}: {} of {} rows met their best key",
        to_string(HeadName{source_.site, place_.layer, place_.head}), found.found_count(), found.of);
    const std::string share = fmt::format(
        "{:.2f} of full attention's weights on others lie on keys that were met", found.mass);
    append_format(out_,
                  "<text class=\"heading\" x=\"0\" y=\"13\">{}</text>\n"
                  "<text class=\"quiet small\" x=\"0\" y=\"30\">{}</text>\n",
                  heading, share);
    const double titles =
        std::ceil(std::max(text_width(heading, 13, FontWeight::bold), text_width(share, 11)));
    if (order_.buckets.empty()) {
      append_format(out_,
                    "<text class=\"quiet\" x=\"0\" y=\"{}\">The sentence is one chunk: nothing "
                    "is hashed.</text>\n",
                    strip_top);
      return {std::move(out_), std::max(titles, 360.0), strip_top + 8};
    }
    append_format(out_,
                  "<text class=\"quiet small\" x=\"0\" y=\"44\">tokens by bucket (its number "
                  "above); a bar ends a chunk of {},</text>\n<text class=\"quiet small\" x=\"0\" "
                  "y=\"58\">which sees itself and the one before it</text>\n",
                  order_.chunk);
    double y = strip_top + 6;
    for (std::size_t round = 0; round < order_.order.size(); ++round) y = append_round(round, y);
    const auto longest = std::min(to_size(max_in_line), order_.order.front().size());
    return {std::move(out_),
            std::max({strip_left + static_cast<double>(longest) * cell_ + 2, titles, 430.0}), y};
  }

 private:
  /// Returns where the next round begins.
  double append_round(std::size_t round, double y) {
    const std::vector<std::int32_t>& tokens = order_.order[round];
    append_format(out_, "<g class=\"round\" data-round=\"{}\">\n", round);
    append_format(out_, "<text class=\"quiet small\" x=\"0\" y=\"{}\">round {}</text>\n",
                  y + bucket_height + cell_ * 0.7, round);
    for (std::size_t first = 0; first < tokens.size(); first += to_size(max_in_line)) {
      const std::size_t end = std::min(tokens.size(), first + to_size(max_in_line));
      for (std::size_t i = first; i < end; ++i) {
        append_token(round, i, strip_left + static_cast<double>(i - first) * cell_, y);
      }
      y += bucket_height + cell_ + 5 + label_height_ + strip_gap;
    }
    out_ += "</g>\n";
    return y;
  }

  void append_token(std::size_t round, std::size_t i, double x, double y) {
    const std::vector<std::int32_t>& tokens = order_.order[round];
    const std::int32_t token = tokens[i];
    const auto bucket_at = [&](std::size_t place) {
      return at(order_.buckets[round], tokens[place]);
    };
    const std::int32_t bucket = bucket_at(i);
    const double top = y + bucket_height;
    if (i == 0 || bucket_at(i - 1) != bucket) {
      append_format(out_, "<text class=\"quiet label-9\" x=\"{}\" y=\"{}\">{}</text>\n", x + 3,
                    top - 3, bucket);
    }
    const std::string label = xml_escaped(at(source_.axes.columns, token));
    append_format(out_,
                  "<rect class=\"bucket{0}\" data-token=\"{1}\" data-bucket=\"{2}\" x=\"{3}\" "
                  "y=\"{4}\" width=\"{5}\" height=\"{5}\"><title>{6}: bucket {2}</title></rect>\n",
                  bucket % bucket_colors, token, bucket, x, top, cell_ - 1, label);
    if ((i + 1) % to_size(order_.chunk) == 0 && i + 1 < tokens.size()) {
      append_format(out_,
                    "<line class=\"chunk-end\" x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\"/>\n",
                    x + cell_ - 0.5, top - 4, top + cell_ + 3);
    }
    const double size = labels_.font_size;
    const double text_x = std::round((x + cell_ / 2.0 + 0.36 * size) * 10) / 10;
    const double text_y = top + cell_ + 5;
    const std::string turn = fmt::format(" transform=\"rotate(-90 {} {})\"", text_x, text_y);
    append_label(out_, at(source_.axes.columns, token),
                 {fmt::format("end {}", label_class(size)), size, label_height_, turn}, text_x,
                 text_y);
  }

  const MapSource& source_;
  HeadIndex place_;
  const LshBuckets& order_;
  int cell_;  ///< pixels
  LabelPlan labels_;
  double label_height_;
  std::string out_;
};

}  // namespace

Panel lsh_bucket_panel(const MapSource& source, HeadIndex place) {
  return LshBucketStrips(source, place).draw();
}

}  // namespace attn
