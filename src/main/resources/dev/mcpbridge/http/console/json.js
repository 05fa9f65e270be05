// @ts-check
/**
 * JSON as it is written: numbers, the order of keys, repeated keys and escapes stay as they are.
 * `JSON.parse` alone changes 1.10, 2^53 + 1, the order of keys like "2", and repeated keys.
 * The texts were checked by the bridge; here they are only split.
 */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/**
 * The same text with line breaks and indentation between its tokens.
 * @param {string} text
 */
export function pretty(text) {
  let depth = 0;
  let last = '';
  const out = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']';
    const isOpen = last === '{' || last === '[';
    if (closes) {
      depth--;
    }
    if ((closes && !isOpen) || (!closes && isOpen) || last === ',') {
      out.push('\n', '  '.repeat(Math.min(depth, 40)));
    }
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') {
      depth++;
    }
    last = token;
  }
  return out.join('');
}

/**
 * The members of an object, each with the text of its value.
 * @param {string} text
 * @returns {Array<[string, string]>} in the order of the text, repeated keys included
 */
export function members(text) {
  return parts(text).map((part) => {
    const key = /^\s*("(?:[^"\\]|\\.)*")\s*:/s.exec(part);
    return key
      ? /** @type {[string, string]} */ ([JSON.parse(key[1]), part.slice(key[0].length).trim()])
      : /** @type {[string, string]} */ (['', part.trim()]);
  });
}

/**
 * The text of one member of an object; the last one of that name, as JSON.parse has it.
 * @param {string} text
 * @param {string} name
 * @returns {string | undefined}
 */
export function member(text, name) {
  return members(text).findLast(([key]) => key === name)?.[1];
}

/**
 * The texts of the elements of a list.
 * @param {string} text
 */
export function elements(text) {
  return parts(text).map((part) => part.trim());
}

/**
 * What is between the outermost brackets, split at its commas.
 * @param {string} text
 */
function parts(text) {
  const found = [];
  let depth = 0;
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0];
    const at = /** @type {number} */ (match.index);
    if (token === '{' || token === '[') {
      depth++;
      from = depth === 1 ? at + 1 : from;
    } else if (token === '}' || token === ']') {
      depth--;
      if (depth === 0 && text.slice(from, at).trim()) {
        found.push(text.slice(from, at));
      }
    } else if (token === ',' && depth === 1) {
      found.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return found;
}

/**
 * A number as JSON has it; numbers are sent as they were typed.
 * @param {string} text
 */
export function isNumber(text) {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}
