// Colour ramps of one hue from paper to ink. Lightness falls evenly in OKLab, so equal steps of
// weight look equally large, the order survives in grey print, and no two hues have to be
// distinguished.

const RAMPS = {
  // lightness at 0 and 1, maximum chroma, hue
  light: { from: 0.985, to: 0.31, chroma: 0.135, hue: 262 },
  dark: { from: 0.235, to: 0.95, chroma: 0.115, hue: 250 },
  lightNegative: { from: 0.985, to: 0.31, chroma: 0.16, hue: 45 },
  darkNegative: { from: 0.235, to: 0.95, chroma: 0.13, hue: 50 },
};

/** Converts OKLCH to sRGB 0 … 255 (Björn Ottosson's OKLab matrices), clipped to the gamut. */
function oklchToRgb(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => {
    const part = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.max(0, Math.min(1, part)));
  });
}

/** Returns the relative luminance as defined by WCAG 2. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function buildRamp({ from, to, chroma, hue }) {
  const steps = [];
  for (let i = 0; i <= 255; ++i) {
    const part = i / 255;
    // No chroma at the paper's end, the most in the middle.
    const colour = chroma * Math.sin(Math.PI * Math.min(1, 0.06 + 0.72 * part)) * Math.min(1, part * 4);
    const rgb = oklchToRgb(from + (to - from) * part, colour, hue);
    // Black or white, whichever has more contrast: at least 4.5 to 1 on any background.
    const dark = (luminance(rgb) + 0.05) ** 2 > 1.05 * 0.05;
    // pixel of a canvas image
    const pixel = new Uint32Array(new Uint8Array([...rgb, 255]).buffer)[0];
    steps.push({ rgb, pixel, css: `rgb(${rgb.join(",")})`, text: dark ? "#000" : "#fff" });
  }
  return steps;
}

const ramps = Object.fromEntries(Object.entries(RAMPS).map(([name, ramp]) => [name, buildRamp(ramp)]));
const systemDark = matchMedia("(prefers-color-scheme: dark)");
let systemIsDark = systemDark.matches;  // cached: each query costs a style calculation
systemDark.addEventListener("change", () => { systemIsDark = systemDark.matches; });
let printing = false;

function isDark() {
  if (printing) return false;
  return state.theme === "dark" || (state.theme === "auto" && systemIsDark);
}

/** Returns a weight's index on the ramp, 0 … 255; NaN gets the index of 0. */
function rampIndex(weight) {
  if (!(weight > 0)) return 0;
  const part = weight >= 1 ? 1 : weight;
  return Math.round(255 * (state.shade === "root" ? Math.sqrt(part) : part));
}

/** Returns the shade of a weight, or of another number's share of the largest one. */
function shadeOf(weight) {
  const ramp = isDark() ? "dark" : "light";
  return weight < 0 ? ramps[`${ramp}Negative`][rampIndex(-weight)] : ramps[ramp][rampIndex(weight)];
}

const themeColors = new Map();
let themeOfColors = null;

/** Returns a colour of the style sheet, for drawing on a canvas. */
function themeColor(name) {
  const theme = `${isDark()} ${printing}`;
  if (theme !== themeOfColors) themeColors.clear();
  themeOfColors = theme;
  if (!themeColors.has(name)) themeColors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return themeColors.get(name);
}

/** Returns the colour of one of `count` heads when several are drawn at once. */
function headColour(head, count) {
  const dark = isDark();
  const hue = 262 + (360 * head) / count;
  // with many hues, neighbours differ in lightness too
  const apart = count > 6 ? (head % 2 === 0 ? -0.1 : 0.08) : 0;
  return `rgb(${oklchToRgb((dark ? 0.76 : 0.56) + apart, dark ? 0.13 : 0.17, hue).join(",")})`;
}
