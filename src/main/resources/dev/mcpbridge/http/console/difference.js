// @ts-check
import { changedPart, folded, lines } from './diff.js';
import { foreign, html, long, nothing, plural } from './view.js';

/**
 * What differs between two texts. Nothing that differs is cut away: lines that are the same are
 * folded, and of a long line that was changed, what is the same in it.
 */

const SIGNS = { same: ' ', removed: '−', added: '+' };
const AROUND = 120;
const MAX_CHANGED = 20_000;

/**
 * @param {string} before
 * @param {string} after
 * @param {string} label
 */
export function differences(before, after, label) {
  const shown = folded(lines(before, after));
  return html`<div class="code diff" dir="ltr" tabindex="0" role="region" aria-label=${label}>
    ${shown.map((line, i) => (line.kind === 'gap' ? html`<div class="hint">${plural(line.count, 'line')} the same</div>` : row(line, partner(shown, i))))}
  </div>`;
}

/** @param {import('./diff.js').Line} line @param {string | undefined} other */
function row(line, other) {
  return html`<div class=${line.kind}>
    <span class="sign">${SIGNS[line.kind]}</span>${line.kind === 'same'
      ? long(line.text, 400)
      : html`<span class="hidden">${line.kind}: </span>${other === undefined ? long(line.text, MAX_CHANGED) : changed(line.text, other)}`}
  </div>`;
}

/** The line that a changed one stands for: at the same place in the run of the other kind. @param {ReturnType<typeof folded>} all @param {number} at */
function partner(all, at) {
  const kind = all[at].kind;
  const step = kind === 'removed' ? 1 : -1;
  const other = kind === 'removed' ? 'added' : 'removed';
  let first = at;
  while (all[first - 1]?.kind === kind) {
    first--;
  }
  let place = at - first;
  let run = at;
  while (all[run]?.kind === kind) {
    run += step;
  }
  if (step < 0) {
    while (all[run - 1]?.kind === other) {
      run--;
    }
  }
  const found = all[run + place];
  return found?.kind === other ? /** @type {import('./diff.js').Line} */ (found).text : undefined;
}

/** A changed line with its difference marked. @param {string} text @param {string} other */
function changed(text, other) {
  const [start, fromEnd] = changedPart(text, other);
  const end = text.length - fromEnd;
  return html`<span class="text">${same(text.slice(0, start), true)}<strong>${foreign(text.slice(start, Math.min(end, start + MAX_CHANGED)))}</strong>${end - start > MAX_CHANGED
      ? long(text.slice(start + MAX_CHANGED, end), 0)
      : nothing}${same(text.slice(end), false)}</span>`;
}

/** @param {string} text @param {boolean} isBefore */
function same(text, isBefore) {
  if (text.length <= 2 * AROUND) {
    return foreign(text);
  }
  const hint = html`<span class="hint">[${plural(text.length - AROUND, 'character')} the same]</span>`;
  return isBefore ? html`${hint}${foreign(text.slice(-AROUND))}` : html`${foreign(text.slice(0, AROUND))}${hint}`;
}
