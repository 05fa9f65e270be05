// @ts-check
/** Foreign texts: what cannot be seen in them is made visible. */

/**
 * What cannot be seen, looks like something else, or changes the direction of a text: controls,
 * format characters, blanks other than the space, fillers, and parts of characters.
 */
const HIDDEN =
  /(?<!\p{Extended_Pictographic})\uFE0F|(?![\uFE0F])[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\u2028\u2029\u2800]|(?![\t\n])\p{Cc}|(?! )\p{Zs}/gu;

/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/**
 * The parts of a text of a fixed direction, such as JSON: strings in another script must not change
 * the order of what is around them.
 * @param {string} text
 */
export function isolated(text) {
  return RIGHT_TO_LEFT.test(text) ? text.split(/("(?:[^"\\]|\\.)*")/s).filter(Boolean) : [text];
}


/**
 * Splits a text into what is shown as it is and what is shown as a mark.
 * @param {string} text
 * @returns {Array<{text: string, isMark: boolean}>}
 */
export function marked(text) {
  const found = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const at = /** @type {number} */ (match.index);
    if (at > from) {
      found.push({ text: text.slice(from, at), isMark: false });
    }
    found.push({ text: mark(match[0]), isMark: true });
    from = at + match[0].length;
  }
  if (from < text.length) {
    found.push({ text: text.slice(from), isMark: false });
  }
  return found;
}

/** The same as one text, for places that take no markup. @param {string} text */
export const plain = (text) => marked(text).map((part) => part.text).join('');

/** @param {string} character */
function mark(character) {
  return `\\u{${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase()}}`;
}

/**
 * The beginning of a long text, without half a character at its end.
 * @param {string} text
 * @param {number} length
 */
export function beginning(text, length) {
  const isHalf = /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') && text.length > length;
  return text.slice(0, isHalf ? length - 1 : length);
}
