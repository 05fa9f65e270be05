// @ts-check
/** Foreign texts: what cannot be seen in them is made visible. */

const HIDDEN = new RegExp(
  '[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5' +
    '\\u180B-\\u180F\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFE00-\\uFE0E\\uFEFF' +
    '\\uFFA0\\uFFF9-\\uFFFB\\u{E0000}-\\u{E0FFF}\\p{Cs}\\p{Co}]' +
    '|(?<!\\p{Extended_Pictographic})\\uFE0F',
  'gu',
);

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
