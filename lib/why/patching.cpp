#include "why/patching.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "why/stack_runs.h"

namespace attn {
namespace {

/// Number of rows of patched runs that are computed together, unless one sentence has more.
constexpr Index kPatchedRows = 4096;

/// Writes the clean output of cross-attention head h of one layer into sentence h of the batch.
class HeadPatch : public AttentionObserver {
 public:
  HeadPatch(Index layer, Index first_head, const Matrix& clean, Index head_dim)
      : layer_(layer), first_head_(first_head), clean_(clean), head_dim_(head_dim) {}

  bool reads_scores() const override { return false; }
  bool watches(AttentionSite, Index, Index) const override { return false; }
  void weights_ready(AttentionHead&) override {}
  void stage_ready(const StageView& view) override {
    if (view.site != AttentionSite::cross || view.stage != Stage::heads || view.layer != layer_) {
      return;
    }
    const Index steps = clean_.rows();
    for (Index b = 0; b * steps < view.rows.rows(); ++b) {
      const Index column = (first_head_ + b) * head_dim_;
      view.writable->block(b * steps, column, steps, head_dim_) =
          clean_.middleCols(column, head_dim_);
    }
  }

 private:
  Index layer_;
  Index first_head_;
  const Matrix& clean_;  ///< [T, H · K]
  Index head_dim_;
};

/// Keeps the outputs of all cross-attention heads.
class HeadKeeper : public AttentionObserver {
 public:
  bool reads_scores() const override { return false; }
  bool watches(AttentionSite, Index, Index) const override { return false; }
  void weights_ready(AttentionHead&) override {}
  void stage_ready(const StageView& view) override {
    if (view.site == AttentionSite::cross && view.stage == Stage::heads) {
      heads.emplace_back(view.rows);
    }
  }

  std::vector<Matrix> heads;  ///< for each layer [T, H · K]
};

/// The states of one run.
struct RunStates {
  std::vector<Matrix> encoder;  ///< after l layers [G + S, D]
  Matrix source;                ///< [S, D] as the decoder reads it
  std::vector<Matrix> decoder;  ///< after l layers [T, D]
  std::vector<Matrix> heads;    ///< cross-attention output of each layer [T, H · K]
  double difference = 0;        ///< logit(word) − logit(foil)
};

/// Returns `count` copies of x below each other.
Matrix copies_of(const Matrix& x, Index count) {
  return x.replicate(count, 1);
}

/// Splits `count` sentences of `rows` rows each into parts, and calls run(first, count) for each.
void in_batches(Index count, Index rows, const std::function<void(Index, Index)>& run) {
  const Index most = std::max<Index>(1, kPatchedRows / rows);
  for (Index first = 0; first < count; first += most) run(first, std::min(most, count - first));
}

/// A replaced row: its index in the clean state (`from`) and in the corrupted one (`to`), and its
/// column in the grid.
struct PatchedRow {
  Index from;
  Index to;
  Index column;
};

class Patcher {
 public:
  Patcher(const Transformer& model, const PatchingRequest& request, PatchingGrids& grids)
      : model_(model),
        config_(model.config()),
        request_(request),
        prefix_(std::span(request.decoder_input).first(to_size(request.step + 1))),
        grids_(grids),
        clean_(states_of(request.clean)),
        corrupt_(states_of(request.corrupt)) {
    grids.clean_logit_diff = clean_.difference;
    grids.corrupt_logit_diff = corrupt_.difference;
    span_ = clean_.difference - corrupt_.difference;
    if (!(std::abs(span_) > 1e-5 * std::max(1.0, std::abs(clean_.difference)))) {
      throw InputError(
          "both sources give the same logit difference ({:.4g}) of the ids {} and {} at step {}; "
          "choose a step, a word and a foil that the sources disagree on",
          clean_.difference, request.word, request.foil, request.step);
    }
  }

  void patch_encoder() {
    const auto length = std::ssize(request_.corrupt);
    const Index width = corrupt_.encoder[0].rows();
    grids_.encoder = Matrix::Zero(config_.encoder_layers + 1, std::ssize(grids_.positions));
    for (Index l = 0; l <= config_.encoder_layers; ++l) {
      std::vector<PatchedRow> rows;
      for (Index p = 0; p < grids_.encoder.cols(); ++p) {
        const AlignedPositions& position = at(grids_.positions, p);
        rows.push_back(
            {config_.global_tokens + position.clean, config_.global_tokens + position.corrupt, p});
      }
      keep_different(at(clean_.encoder, l), at(corrupt_.encoder, l), rows);
      in_batches(std::ssize(rows), width + steps(), [&](Index first, Index count) {
        const auto part = std::span(rows).subspan(to_size(first), to_size(count));
        Matrix x = patched(at(clean_.encoder, l), at(corrupt_.encoder, l), part);
        EncoderRuns encoder(model_, count, length);
        for (Index next = l; next < config_.encoder_layers; ++next) encoder.layer(next, x);
        const Matrix source = encoder.finish(std::move(x));
        DecoderRuns decoder(model_, count, steps(), {source, length});
        Matrix y = copies_of(corrupt_.decoder[0], count);
        decoder.layers_from(0, y);
        set_shares(decoder, y, part, grids_.encoder.row(l));
      });
    }
  }

  void patch_decoder() {
    grids_.decoder = Matrix::Zero(config_.decoder_layers + 1, steps());
    for (Index l = 0; l <= config_.decoder_layers; ++l) {
      std::vector<PatchedRow> rows;
      for (Index t = 0; t < steps(); ++t) rows.push_back({t, t, t});
      keep_different(at(clean_.decoder, l), at(corrupt_.decoder, l), rows);
      in_batches(std::ssize(rows), steps(), [&](Index first, Index count) {
        const auto part = std::span(rows).subspan(to_size(first), to_size(count));
        Matrix y = patched(at(clean_.decoder, l), at(corrupt_.decoder, l), part);
        DecoderRuns decoder(model_, count, steps(), {corrupt_.source, corrupt_.source.rows()});
        decoder.layers_from(l, y);
        set_shares(decoder, y, part, grids_.decoder.row(l));
      });
    }
  }

  void patch_heads() {
    const Index heads = config_.decoder_heads;
    grids_.cross = Matrix::Zero(config_.decoder_layers, heads);
    for (Index l = 0; l < config_.decoder_layers; ++l) {
      in_batches(heads, steps(), [&](Index first, Index count) {
        HeadPatch patch(l, first, at(clean_.heads, l), config_.decoder_head_dim());
        Matrix y = copies_of(at(corrupt_.decoder, l), count);
        DecoderRuns decoder(model_, count, steps(), {corrupt_.source, corrupt_.source.rows()});
        decoder.layers_from(l, y, &patch);
        std::vector<PatchedRow> columns;
        for (Index h = first; h < first + count; ++h) columns.push_back({0, 0, h});
        set_shares(decoder, y, columns, grids_.cross.row(l));
      });
    }
  }

 private:
  Index steps() const { return std::ssize(prefix_); }

  /// Runs one sentence and keeps all states.
  RunStates states_of(std::span<const int> source) const {
    RunStates states;
    EncoderRuns encoder(model_, 1, std::ssize(source));
    Matrix x = encoder.embed(source);
    states.encoder.push_back(x);
    for (Index l = 0; l < config_.encoder_layers; ++l) {
      encoder.layer(l, x);
      states.encoder.push_back(x);
    }
    states.source = encoder.finish(std::move(x));
    DecoderRuns decoder(model_, 1, steps(), {states.source, std::ssize(source)});
    HeadKeeper keeper;
    Matrix y = decoder.embed(prefix_);
    states.decoder.push_back(y);
    for (Index l = 0; l < config_.decoder_layers; ++l) {
      decoder.layer(l, y, &keeper);
      states.decoder.push_back(y);
    }
    states.heads = std::move(keeper.heads);
    states.difference = decoder.differences(y, request_.word, request_.foil)[0];
    return states;
  }

  /// Leaves out the rows that are the same in both runs: replacing them changes nothing.
  static void keep_different(const Matrix& clean, const Matrix& corrupt,
                             std::vector<PatchedRow>& rows) {
    std::erase_if(
        rows, [&](const PatchedRow& row) { return clean.row(row.from) == corrupt.row(row.to); });
  }

  /// Returns the corrupted state once for every row, with that row replaced.
  static Matrix patched(const Matrix& clean, const Matrix& corrupt,
                        std::span<const PatchedRow> rows) {
    Matrix x = copies_of(corrupt, std::ssize(rows));
    for (std::size_t b = 0; b < rows.size(); ++b) {
      x.row(to_index(b) * corrupt.rows() + rows[b].to) = clean.row(rows[b].from);
    }
    return x;
  }

  /// Fills the columns of the runs whose last decoder states are y.
  void set_shares(DecoderRuns& decoder, const Matrix& y, std::span<const PatchedRow> columns,
                  Eigen::Ref<RowVector> shares) const {
    const std::vector<double> differences = decoder.differences(y, request_.word, request_.foil);
    for (std::size_t b = 0; b < columns.size(); ++b) {
      shares[columns[b].column] =
          static_cast<float>((differences[b] - corrupt_.difference) / span_);
    }
  }

  const Transformer& model_;
  const ModelConfig& config_;
  const PatchingRequest& request_;
  std::span<const int> prefix_;  ///< the decoder's input up to the step
  PatchingGrids& grids_;
  RunStates clean_;
  RunStates corrupt_;
  double span_ = 0;  ///< D_clean − D_corrupt
};

/// Returns the positions of the encoder's grid.
std::vector<AlignedPositions> positions_of_grid(const PatchingRequest& request) {
  const auto clean = std::ssize(request.clean), corrupt = std::ssize(request.corrupt);
  std::vector<AlignedPositions> positions = request.alignment;
  if (positions.empty()) {
    if (clean != corrupt) {
      throw InputError(
          "the corrupted source has {} tokens and the clean one {}; swap words for "
          "others of as many tokens",
          corrupt, clean);
    }
    for (Index s = 0; s < clean; ++s) positions.push_back({s, s});
  }
  for (const AlignedPositions& p : positions) {
    if (p.clean >= 0 && p.clean < clean && p.corrupt >= 0 && p.corrupt < corrupt) continue;
    throw InputError(
        "the alignment has the pair {}-{}; expected positions 0 to {} of the clean source and 0 to "
        "{} of the corrupted one",
        p.clean, p.corrupt, clean - 1, corrupt - 1);
  }
  return positions;
}

void check_patching(const ModelConfig& config, const PatchingRequest& request) {
  PackedTokens sources, target;
  sources.add(request.clean);
  sources.add(request.corrupt);
  target.add(request.decoder_input);
  check_tokens(sources, config.vocab_size, config.max_positions, "source");
  check_tokens(target, config.decoder_vocab_size, config.decoder_positions(), "target");
  if (request.step < 0 || request.step >= std::ssize(request.decoder_input)) {
    throw InputError("step {} is asked for; the target has steps 0 to {}", request.step,
                     request.decoder_input.size() - 1);
  }
  for (const int id : {request.word, request.foil}) {
    if (id >= 0 && id < config.decoder_vocab_size) continue;
    throw InputError("the id {} is compared; expected 0 to {}", id, config.decoder_vocab_size - 1);
  }
  if (request.word == request.foil) {
    throw InputError("the clean and the corrupted word are the same (id {}); choose two words",
                     request.word);
  }
}

/// Throws MemoryError unless the states of both runs and the rows of a batch fit.
void check_patching_memory(const ModelConfig& config, const PatchingRequest& request) {
  const auto u = [](auto n) { return static_cast<double>(n); };
  const double source =
      u(std::max(request.clean.size(), request.corrupt.size())) + u(config.global_tokens);
  const double target = u(request.step + 1);
  const double inner = u(std::max(config.encoder_inner_dim(), config.decoder_inner_dim()));
  const double states = source * u(config.encoder_layers + 2) * u(config.d_model) +
                        target * u(config.decoder_layers + 1) * (u(config.d_model) + inner);
  const double rows = std::max(u(kPatchedRows), source + target);
  const double ffn = u(std::max(config.encoder_ffn_dim, config.decoder_ffn_dim));
  const double row = 6 * u(config.d_model) + 8 * inner + (config.gated ? 2 : 1) * ffn;
  const double bytes = 4 * (2 * states + rows * row);
  require_memory(bytes < 0x1p63 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0},
                 "the patched runs of this sentence");
}

}  // namespace

PatchingGrids patch_activations(const Transformer& model, const PatchingRequest& request) {
  check_patching(model.config(), request);
  check_patching_memory(model.config(), request);
  PatchingGrids grids;
  grids.positions = positions_of_grid(request);
  Patcher patcher(model, request, grids);
  patcher.patch_encoder();
  patcher.patch_decoder();
  patcher.patch_heads();
  return grids;
}

}  // namespace attn
