// Text and numbers as a person reads them. All text from the data passes through here before it is
// shown, and reaches the document only as text nodes.

// Characters that reorder, break or hide text: bidirectional marks, separators, controls, and
// characters without a glyph. A joiner between two emoji is kept as part of the emoji.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
const PICTURE = /^\p{Extended_Pictographic}/u;
// or a modifier of its colour or style
const PICTURE_END = /^[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f]/u;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns `text` with invisible characters written as \u{…}; lone surrogates become U+FFFD. */
function printable(text) {
  return String(text)
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(INVISIBLE, (found, at, whole) => {
      const code = found.codePointAt(0);
      if (code === 0x200d) {
        const before = Array.from(whole.slice(Math.max(0, at - 2), at)).pop() || "";
        if (PICTURE_END.test(before) && PICTURE.test(whole.slice(at + 1))) return found;
      }
      return "\\u{" + code.toString(16) + "}";
    });
}

const WORD_MARK = "\u2581";     // SentencePiece's ▁
const CONTINUATION = "\u203f";  // ‿ continues the word before it

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isSpecial(token) {
  return token.length >= 3 && ((token.startsWith("<") && token.endsWith(">")) ||
                               (token.startsWith(">>") && token.endsWith("<<")));
}

function quotedIfBlank(text) {
  return /\S/u.test(text) ? text : `"${text}"`;
}

/** Returns one label per token, as the terminal view writes them: "▁Haus", "tür" become "Haus",
 *  "‿tür". */
function tokenLabels(tokens) {
  const marked = tokens.some((token) => token.startsWith(WORD_MARK));
  let insideWord = false;
  return tokens.map((token) => {
    const special = isSpecial(token);
    const startsWord = token.startsWith(WORD_MARK);
    const bare = startsWord && token.length > 1 ? token.slice(1) : token;
    const goesOn = marked && insideWord && !startsWord && !special;
    insideWord = !special;
    return (goesOn ? CONTINUATION : "") + quotedIfBlank(printable(bare));
  });
}

/** Returns the words that tokens form: [{label, first, end}]. `ends` says where each word ends,
 *  as the program found them; without it every token is a word. */
function wordsOf(tokens, ends) {
  let next = 0;
  return (ends || tokens.map((_, i) => i + 1)).map((end) => {
    const first = next;
    next = end;
    const whole = tokens.slice(first, end).join("");
    const bare = whole.startsWith(WORD_MARK) && whole.length > 1 ? whole.slice(1) : whole;
    return { first, end, label: quotedIfBlank(printable(bare)) };
  });
}

/** Returns a decimal exactly as the record has it. */
function exact(value) {
  if (typeof value !== "number" || Number.isNaN(value)) return "NaN";
  if (value !== 0 && Math.abs(value) < 1e-4) return minus(value.toExponential());
  return minus(String(value));
}

/** Returns the shortest decimal that reads back to the same float32. */
function shortest(value) {
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return minus(String(single));
  for (let digits = 1; digits < 9; ++digits) {
    const rounded = Number(single.toPrecision(digits));
    if (Math.fround(rounded) === single) return exact(rounded);
  }
  return exact(Number(single.toPrecision(9)));
}

/** Formats a computed number with `digits` decimals, a true minus sign and no "−0". */
function fixed(value, digits) {
  if (typeof value !== "number" || Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = value.toFixed(digits);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

/** Formats a computed number with about six significant digits, without dropping digits before
 *  the decimal point. */
function computed(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return fixed(value, 0);
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4) return minus(value.toExponential(4));
  return fixed(value, size >= 1000 ? 2 : size >= 10 ? 4 : 6);
}

/** Puts a true minus sign in front; exponents stay as programs read them. */
function minus(text) {
  return text.replace(/^-/, "\u2212");
}

function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function plural(count, one, many = one + "s") {
  return `${thousands(count)} ${count === 1 ? one : many}`;
}
