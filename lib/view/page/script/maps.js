// Decodes attention weights from their compact text (lib/record/json/packed_maps.h).

const MAP_LETTERS = "!#$%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
const MAP_DIGITS = new Uint8Array(128);
Array.from(MAP_LETTERS, (letter, i) => { MAP_DIGITS[letter.charCodeAt(0)] = i; });

/** Returns a function that reads the next `count` (at most 16) bits of a text, lowest bit first. */
function letterBits(text) {
  let at = 0;
  let waiting = 0;
  let have = 0;
  return (count) => {
    while (have < count) {
      waiting |= (MAP_DIGITS[text.charCodeAt(at)] + 91 * MAP_DIGITS[text.charCodeAt(at + 1)]) << have;
      at += 2;
      have += 13;
    }
    const bits = waiting & ((1 << count) - 1);
    waiting >>>= count;
    have -= count;
    return bits;
  };
}

/** Returns the next weight, a float32 that a number represents exactly. */
function nextWeight(bits, word) {
  let size = 0;
  while (bits(1) === 1) size += 8;
  size += bits(3);
  if (size === 0) return 0;
  const low = bits(12);
  if (size < 128) return 2 ** (1 - size) * (1 + (low + bits(11) * 4096) / 8388608);
  word.setUint32(0, low + bits(12) * 4096 + bits(8) * 16777216);
  return word.getFloat32(0);
}

/** Returns the weights of `count` maps of n rows and m columns, map after map and row after row. */
function unpackMaps(text, count, n, m) {
  const bits = letterBits(text);
  const weights = new Float32Array(count * n * m);
  const word = new DataView(new ArrayBuffer(4));
  const triangle = bits(1) === 1;
  for (let row = 0; row < count * n; ++row) {
    const end = triangle ? Math.min(m, (row % n) + 1) : m;
    for (let k = 0; k < end; ++k) weights[row * m + k] = nextWeight(bits, word);
  }
  return weights;
}
