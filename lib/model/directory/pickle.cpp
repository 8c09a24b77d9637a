#include "model/directory/torch_file.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"

namespace attn {

namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

}  // namespace

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const AllowedPickleNames& names, const std::string& where,
               std::deque<PickleValue>& values)
      : bytes_(bytes), names_(names), where_(where), values_(values) {
    true_->integer = 1;
  }

  const PickleValue* run() {
    for (;;) {
      const char opcode = take(1).front();
      if (opcode == '.') break;
      if (!read_constant(opcode) && !read_number_or_text(opcode) && !read_memo(opcode) &&
          !read_group(opcode) && !read_call(opcode)) {
        fail("opcode 0x{:02x}, which torch.save does not write", byte_value(opcode));
      }
    }
    if (at_ != bytes_.size()) fail("{} after its end", counted(bytes_.size() - at_, "byte"));
    if (!marks_.empty()) {
      fail("{} and {} at its end, expected one value", counted(stack_.size(), "value"),
           counted(marks_.size(), "mark"));
    }
    if (stack_.size() != 1) fail("{}, expected one", counted(stack_.size(), "value"));
    return stack_.back();
  }

 private:
  bool read_constant(char opcode) {
    switch (opcode) {
      case 'N':
        return push(none_);
      case '\x88':
        return push(true_);
      case '\x89':
        return push(false_);
      case 'G':  // BINFLOAT
        take(sizeof(double));
        return push(real_);
      case '\x80':  // PROTO
        if (const int version = byte_value(take(1).front()); version < 2 || version > 4) {
          fail("protocol {}, expected 2 to 4", version);
        }
        return true;
      case '\x95':  // FRAME, a length that helps readers of pipes
        take(sizeof(std::uint64_t));
        return true;
      default:
        return false;
    }
  }

  bool read_number_or_text(char opcode) {
    switch (opcode) {
      case 'J':
        return push_integer(static_cast<std::int32_t>(number(4)));
      case 'K':
        return push_integer(static_cast<std::int64_t>(number(1)));
      case 'M':
        return push_integer(static_cast<std::int64_t>(number(2)));
      case '\x8a':  // LONG1
        return push_long(to_size(number(1)));
      case '\x8c':
        return push_text(number(1));
      case 'X':
        return push_text(number(4));
      case '\x8d':
        return push_text(number(8));
      default:
        return false;
    }
  }

  bool read_memo(char opcode) {
    switch (opcode) {
      case 'q':
        return memoize(number(1));
      case 'r':
        return memoize(number(4));
      case '\x94':
        return memoize(memo_.size());
      case 'h':
        return recall(number(1));
      case 'j':
        return recall(number(4));
      default:
        return false;
    }
  }

  bool read_group(char opcode) {
    switch (opcode) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ')':
        return push_group(Kind::tuple, 0);
      case ']':
        return push_group(Kind::list, 0);
      case '}':
        return push_group(Kind::dict, 0);
      case '\x85':
      case '\x86':
      case '\x87':
        return push_group(Kind::tuple, byte_value(opcode) - std::size_t{0x84});
      case 't':
        return push_group(Kind::tuple, above_mark());
      case 'a':
        return extend(Kind::list, 1, 1);
      case 'e':
        return extend(Kind::list, above_mark(), 1);
      case 's':
        return extend(Kind::dict, 2, 2);
      case 'u':
        return extend(Kind::dict, above_mark(), 2);
      default:
        return false;
    }
  }

  bool read_call(char opcode) {
    switch (opcode) {
      case 'c': {  // GLOBAL
        const std::string_view module = line();
        return push_global(module, line());
      }
      case '\x93': {  // STACK_GLOBAL
        const std::string_view name = pop_text();
        return push_global(pop_text(), name);
      }
      case 'Q': {  // BINPERSID
        require(1);
        PickleValue& outside = make(Kind::persistent);
        outside.parts.push_back(pop());
        return push(&outside);
      }
      case 'R':
        return reduce();
      case 'b':
        return build();
      default:
        return false;
    }
  }

  bool reduce() {
    require(2);
    const PickleValue& arguments = *pop();
    const PickleValue& function = *pop();
    if (function.kind != Kind::global) fail("a call of something that is not a function");
    if (arguments.kind != Kind::tuple) fail("a call of {} without arguments", function.text);
    if (function.text == kOrderedDict) {
      if (!arguments.parts.empty()) fail("{} with arguments; expected none", kOrderedDict);
      return push(&make(Kind::dict));
    }
    if (std::ranges::find(names_.functions, function.text) == names_.functions.end()) {
      fail("a call of {}, which torch.save does not write for tensors; nothing was executed",
           function.text);
    }
    PickleValue& call = make(Kind::call);
    call.text = function.text;
    call.parts.push_back(
        &arguments);  // no copy: a hostile pickle may call with the same tuple many times
    return push(&call);
  }

  /// Ignores an object's attributes: torch attaches the versions of its layers to a table of
  /// weights.
  bool build() {
    require(2);
    const PickleValue& state = *pop();
    const PickleValue& object = *stack_.back();
    if (object.kind != Kind::dict || state.kind != Kind::dict) {
      fail(
          "attributes set on {}; nothing was executed",
          object.kind == Kind::call || object.kind == Kind::global ? object.text : "a plain value");
    }
    return true;
  }

  // The operations behind the opcodes.

  PickleValue& make(Kind kind) {
    if (values_.size() == kMaxValues) fail("more than {} values", kMaxValues);
    values_.emplace_back().kind = kind;
    return values_.back();
  }

  bool push(PickleValue* value) {
    stack_.push_back(value);
    return true;
  }

  bool push_integer(std::int64_t integer) {
    PickleValue& value = make(Kind::integer);
    value.integer = integer;
    return push(&value);
  }

  /// Pushes a little-endian two's complement number. The format allows any length; we accept up to
  /// 64 bits.
  bool push_long(std::size_t length) {
    const std::string_view digits = take(length);
    if (length > sizeof(std::int64_t)) fail("an integer of {} bytes, expected at most 8", length);
    std::uint64_t value = !digits.empty() && byte_value(digits.back()) >= 0x80 ? ~0ULL : 0;
    for (std::size_t i = length; i-- > 0;) value = value << 8 | byte_value(digits[i]);
    return push_integer(static_cast<std::int64_t>(value));
  }

  bool push_text(std::uint64_t length) {
    const std::string_view text = take(length);
    if (!is_valid_utf8(text)) fail("a text that is no UTF-8");
    PickleValue& value = make(Kind::text);
    value.text = text;
    return push(&value);
  }

  bool push_global(std::string_view module, std::string_view name) {
    const std::string whole = std::string(module) + "." + std::string(name);
    const std::vector<std::string_view> ordered_dict{kOrderedDict};
    for (const auto* names : {&ordered_dict, &names_.values, &names_.functions}) {
      const auto found = std::ranges::find(*names, whole);
      if (found == names->end()) continue;
      PickleValue& value = make(Kind::global);
      value.text = *found;
      return push(&value);
    }
    fail("it asks for {}, which torch.save does not write for tensors; nothing was executed",
         excerpt(whole));
  }

  /// Replaces the top `count` values by one value that holds them; their mark is already gone.
  bool push_group(Kind kind, std::size_t count) {
    require(count);
    PickleValue& group = make(kind);
    const std::vector<PickleValue*> parts = pop_all(count);
    group.parts.assign(parts.begin(), parts.end());
    return push(&group);
  }

  /// Appends the top `count` values to the list or dict below them.
  bool extend(Kind kind, std::size_t count, std::size_t each) {
    require(count + 1);
    if (count % each != 0) fail("a key without a value");
    const std::vector<PickleValue*> parts = pop_all(count);
    if (stack_.back()->kind != kind) fail("parts for a value that is no container of this kind");
    auto& all = stack_.back()->parts;
    all.insert(all.end(), parts.begin(), parts.end());
    return true;
  }

  bool memoize(std::uint64_t place) {
    require(1);
    memo_[place] = stack_.back();
    return true;
  }

  bool recall(std::uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) fail("place {} of its memo, which is empty", place);
    return push(found->second);
  }

  // The stack above the last mark, and reading bytes.

  void require(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) fail("a value is missing");
  }

  PickleValue* pop() {
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }

  std::string_view pop_text() {
    require(1);
    const PickleValue* value = pop();
    if (value->kind != Kind::text) fail("a name that is not text");
    return value->text;
  }

  std::vector<PickleValue*> pop_all(std::size_t count) {
    const auto first = stack_.end() - to_index(count);
    std::vector<PickleValue*> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    return values;
  }

  /// Removes the last mark and returns the number of values above it.
  std::size_t above_mark() {
    if (marks_.empty()) fail("a mark is missing");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("{} requested beyond its end", counted(count, "byte"));
    const std::string_view taken = bytes_.substr(at_, to_size(count));
    at_ += to_size(count);
    return taken;
  }

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);
    return value;
  }

  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) fail("a name without an end");
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: byte {}: {}", where_, at_,
                     fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view bytes_;
  const AllowedPickleNames& names_;
  const std::string& where_;
  std::deque<PickleValue>& values_;
  std::size_t at_ = 0;
  PickleValue* none_ = &make(Kind::none);
  PickleValue* false_ = &make(Kind::boolean);
  PickleValue* true_ = &make(Kind::boolean);
  PickleValue* real_ = &make(Kind::real);
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  ///< stack sizes at each mark
  std::unordered_map<std::uint64_t, PickleValue*> memo_;
};

Pickle::Pickle(std::string_view bytes, const AllowedPickleNames& names, const std::string& where)
    : value_(PickleReader(bytes, names, where, values_).run()) {}

}  // namespace attn
