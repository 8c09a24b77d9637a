#include "text/pieces/piece_model.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/fragile_call.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "text/pieces/byte_pairs.h"
#include "text/pieces/sentencepiece_check.h"
#include "text/pieces/unigram.h"
#include "text/pieces/wire_format.h"

namespace sentencepiece::logging {
// Exported by the library, declared in none of its public headers.
void SetMinLogLevel(int level);  // NOLINT(readability-identifier-naming)
}  // namespace sentencepiece::logging

namespace attn {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

constexpr int kFatalOnly = 3;

// Fields of the file that a small copy of the model is made from.
constexpr std::uint32_t kPiece = 1;
constexpr std::uint32_t kTrainer = 2;
constexpr std::uint32_t kNormalizer = 3;
constexpr std::uint32_t kDenormalizer = 5;
constexpr std::uint32_t kPieceText = 1;
constexpr std::uint32_t kPieceType = 3;
constexpr std::uint32_t kModelType = 3;
constexpr std::uint32_t kByteFallback = 35;

std::unique_ptr<const Processor> load(std::string_view bytes, const std::string& where) {
  const FragileCall call;
  auto processor = std::make_unique<Processor>();
  std::string problem;
  try {
    const auto status = processor->LoadFromSerializedProto(bytes);
    if (!status.ok()) problem = status.ToString();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // its index builder throws
    problem = error.what();
  }
  if (!problem.empty()) {
    throw InputError("{}: SentencePiece refuses the model: {}; copy or download it again", where,
                     excerpt(problem));
  }
  return processor;
}

/// A copy of the file with the pieces that `keep` wants, of the fields `others`, and with `changes`
/// to its training record: a second message of a field is merged into the first, and its values
/// win.
template <typename Keep>
std::string small_copy(std::string_view bytes, const SentencePieceModel& model, Keep&& keep,
                       std::uint32_t other, const std::string& changes) {
  std::string copy;
  const std::string unused;  // the bytes have been checked: there is no error to begin with it
  WireReader fields(bytes, 0, unused);
  WireField field;
  std::size_t id = 0;
  while (fields.next(field)) {
    const bool kept = field.number == kPiece ? keep(model.pieces[id++])
                                             : field.number == kTrainer || field.number == other;
    if (kept) copy += field.whole;
  }
  return copy + wire_bytes(kTrainer, changes);
}

std::vector<std::string> library_cut(const Processor& processor, std::string_view text) {
  const FragileCall call;
  std::vector<std::string> pieces;
  const auto status = processor.Encode(text, &pieces);
  if (!status.ok()) {
    throw InputError("text: SentencePiece cannot cut it: {}; try a shorter or simpler one",
                     excerpt(status.ToString()));
  }
  return pieces;
}

bool is_special(PieceType type) {
  return type == PieceType::unknown || type == PieceType::control ||
         type == PieceType::user_defined;
}

bool is_one_character(std::string_view text) {
  return decode_code_point(text).length == text.size();
}

/// A model that normalises as the whole one does, and cuts into characters; without an index of
/// thousands of pieces it loads in no time. What is no piece of one character comes out as byte
/// pieces: the library joins unknown characters instead, in a time that grows with their square.
std::string normaliser_of(std::string_view bytes, const SentencePieceModel& model) {
  const auto keep = [](const SentencePieceEntry& piece) {
    return is_special(piece.type) ||
           (piece.type == PieceType::normal && is_one_character(piece.text));
  };
  const auto type = static_cast<std::uint64_t>(SegmentationType::character);
  std::string copy = small_copy(bytes, model, keep, kNormalizer,
                                wire_number(kModelType, type) + wire_number(kByteFallback, 1));
  for (int value = 0; value < kByteValues; ++value) {
    const auto byte = static_cast<std::uint64_t>(PieceType::byte);
    copy += wire_bytes(kPiece,
                       wire_bytes(kPieceText, byte_piece(value)) + wire_number(kPieceType, byte));
  }
  return copy;
}

/// A model that joins pieces as the whole one does: ordinary pieces need no entry for that.
std::string joiner_of(std::string_view bytes, const SentencePieceModel& model) {
  const auto keep = [](const SentencePieceEntry& piece) {
    return is_special(piece.type) || piece.type == PieceType::byte;
  };
  const auto type = static_cast<std::uint64_t>(SegmentationType::character);
  return small_copy(bytes, model, keep, kDenormalizer, wire_number(kModelType, type));
}

}  // namespace

void quiet_sentencepiece() {
  sentencepiece::logging::SetMinLogLevel(kFatalOnly);
}

struct PieceModel::Parts {
  std::string bytes;                        ///< the file, where byte pairs go on reading it
  std::unique_ptr<const Processor> cutter;  ///< only normalises where there is `unigram`
  std::unique_ptr<const Processor> joiner;  ///< null: the cutter joins too
  std::optional<Unigram> unigram;
  std::optional<BytePairs> pairs;
  /// Of byte-pair models, made when it is first needed: only training does.
  mutable std::unique_ptr<const Processor> normaliser;
  mutable std::once_flag normaliser_made;
  std::string where;
  SegmentationType segmentation = SegmentationType::unigram;
};

PieceModel::PieceModel(std::string bytes, const std::string& where) {
  quiet_sentencepiece();
  auto parts = std::make_unique<Parts>();
  parts->bytes = std::move(bytes);
  SentencePieceModel model = check_sentencepiece_model(parts->bytes, where);
  parts->segmentation = model.segmentation;
  parts->where = where;
  if (model.segmentation == SegmentationType::unigram) {
    parts->cutter = load(normaliser_of(parts->bytes, model), where);
    parts->joiner = load(joiner_of(parts->bytes, model), where);
    parts->unigram.emplace(model);
  } else {
    parts->cutter = load(parts->bytes, where);
    if (model.segmentation == SegmentationType::bpe) parts->pairs.emplace(std::move(model));
  }
  if (!parts->pairs) std::string().swap(parts->bytes);
  parts_ = std::move(parts);
}

PieceModel::~PieceModel() = default;

SegmentationType PieceModel::segmentation() const {
  return parts_->segmentation;
}

std::vector<std::string> PieceModel::cut(std::string_view text) const {
  if (parts_->unigram) return parts_->unigram->cut(normalise(text));
  return library_cut(*parts_->cutter, text);
}

std::string PieceModel::normalise(std::string_view text) const {
  if (parts_->pairs) {
    std::call_once(parts_->normaliser_made, [&] {
      parts_->normaliser =
          load(normaliser_of(parts_->bytes, parts_->pairs->model()), parts_->where);
    });
  }
  const Processor& cutter = parts_->pairs ? *parts_->normaliser : *parts_->cutter;
  std::string normalised;
  for (const std::string& piece : library_cut(cutter, text)) {
    const int byte = byte_value(piece);
    if (byte == kByteValues) {
      normalised += piece;
    } else {
      normalised += static_cast<char>(byte);
    }
  }
  return normalised;
}

std::vector<std::string> PieceModel::sample(std::string_view normalised, double sampling,
                                            RandomNumbers& random) const {
  if (parts_->pairs) return parts_->pairs->sample(normalised, sampling, random);
  return parts_->unigram.value().sample(normalised, sampling, random);
}

std::string PieceModel::join(const std::vector<std::string>& pieces) const {
  std::string text;
  const FragileCall call;
  const auto status = (parts_->joiner ? parts_->joiner : parts_->cutter)->Decode(pieces, &text);
  if (!status.ok()) {
    throw InputError("ids: SentencePiece cannot join their pieces: {}; check vocab.json",
                     excerpt(status.ToString()));
  }
  return text;
}

}  // namespace attn
