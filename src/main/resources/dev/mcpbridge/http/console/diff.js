// @ts-check
/** What differs between two texts, line by line. */

const MAX_CELLS = 4_000_000;

/**
 * @typedef {{kind: 'same' | 'removed' | 'added', text: string}} Line
 */

/**
 * The shortest list of removed and added lines; of very long texts the differing middle is taken as
 * a whole.
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function lines(before, after) {
  const old = before.split('\n');
  const now = after.split('\n');
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) {
    head++;
  }
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail++;
  }
  return [
    ...old.slice(0, head).map(same),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
}

/**
 * What is shown of a list of lines: all that differs, some lines around it, and how many are the
 * same between.
 * @param {Line[]} all
 * @param {number} around
 * @returns {Array<Line | {kind: 'gap', count: number}>}
 */
export function folded(all, around = 3) {
  const isNear = new Uint8Array(all.length);
  all.forEach((line, i) => line.kind !== 'same' && isNear.fill(1, Math.max(0, i - around), i + around + 1));
  const found = /** @type {Array<Line | {kind: 'gap', count: number}>} */ ([]);
  for (let i = 0; i < all.length; ) {
    let end = i;
    while (end < all.length && !isNear[end]) {
      end++;
    }
    if (end - i > 1) {
      found.push({ kind: 'gap', count: end - i });
      i = end;
    } else {
      found.push(all[i++]);
    }
  }
  return found;
}

/**
 * Where two texts begin and cease to differ.
 * @param {string} before
 * @param {string} after
 * @returns {[start: number, fromEnd: number]} lengths of the same beginning and the same end
 */
export function changedPart(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end++;
  }
  return [start, end];
}

/** @param {string} text @returns {Line} */
const same = (text) => ({ kind: 'same', text });
/** @param {string} text @returns {Line} */
const removed = (text) => ({ kind: 'removed', text });
/** @param {string} text @returns {Line} */
const added = (text) => ({ kind: 'added', text });

/**
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Line[]}
 */
function middle(old, now) {
  const width = now.length + 1;
  if (old.length * width > MAX_CELLS) {
    return [...old.map(removed), ...now.map(added)];
  }
  // The length of the longest common subsequence of what is left, from the end.
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      found.push(same(old[i]));
      i++;
      j++;
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      found.push(removed(old[i++]));
    } else {
      found.push(added(now[j++]));
    }
  }
  return found;
}
