// @ts-check
import { json, path, text } from './api.js';
import { approval } from './approval.js';
import { readConfirmations, store, subscribe } from './store.js';
import { repeat } from './lit/directives/repeat.js';
import { badge, failure, foreign, html, nothing, plural, time } from './view.js';

const MAX_CARDS = 20;

/**
 * The calls that wait for a decision, and those that were decided. New ones are only counted until
 * they are asked for, so that nothing moves under the pointer.
 * @param {import('./main.js').Place} place @returns {import('./main.js').Screen}
 */
export function open({ parameters: [only], changed }) {
  /** @type {Map<string, ReturnType<typeof approval>>} */
  const cards = new Map();
  /** @type {any[]} */
  let decided = [];
  /** @type {unknown} */
  let problem = null;
  let isFirst = true;

  const readDecided = async () => {
    try {
      decided = (await json('confirmations?state=decided')).confirmations;
    } catch (e) {
      problem = e;
    }
    changed();
  };

  /** @param {any} confirmation */
  const add = (confirmation) =>
    cards.set(confirmation.confirmation_id, approval(confirmation.held, { changed, decided: () => { readConfirmations(); readDecided(); } }));

  const isShown = (/** @type {any} */ each) => cards.has(each.confirmation_id);
  const fresh = () => (only ? [] : store.confirmations.filter((each) => !isShown(each)));

  const showNew = () => {
    const pending = new Set(store.confirmations.map((each) => each.confirmation_id));
    cards.forEach((card, id) => !pending.has(id) && !card.isBusy() && cards.delete(id));
    fresh().slice(0, Math.max(0, MAX_CARDS - cards.size)).forEach(add);
    changed();
  };

  const takeOne = async () => {
    try {
      const held = await text(path`confirmations/${only}`);
      if (JSON.parse(held).status === 'pending') {
        add({ confirmation_id: only, held });
      } else {
        decided = [JSON.parse(held)];
      }
    } catch (e) {
      problem = e;
    }
    changed();
  };

  const unsubscribe = subscribe((event) => {
    if (event === 'store' && !only && (isFirst || cards.size === 0) && store.confirmations.length > 0) {
      isFirst = false;
      showNew();
    } else if (event === 'confirmation' && !only) {
      readDecided();
    }
  });
  if (only) {
    takeOne();
  } else {
    readDecided();
    showNew();
    isFirst = cards.size === 0;
  }

  const view = () => html`
    ${only ? html`<p class="crumbs"><a href="#/approvals">Approvals</a> / this call</p>` : bar(fresh().length, cards.size, showNew)}
    ${failure(problem)}
    <div class="cards-list">${repeat(cards.values(), (card) => card.id, (card) => card.view())}</div>
    ${decided.length === 0
      ? nothing
      : html`<h2>Decided</h2>
          <table class="cards">
            <caption class="hidden">Decided calls</caption>
            <thead><tr>${['Call', 'Asked by', 'Decision', 'Decided by', 'Reason', 'Executed', 'Expiry'].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
            <tbody>${decided.slice(0, 200).map(row)}</tbody>
          </table>`}
  `;
  return { title: only ? 'Approval' : 'Approvals', view, close: unsubscribe };
}

/** @param {number} fresh @param {number} shown @param {() => void} showNew */
function bar(fresh, shown, showNew) {
  return html`<div class="tools">
    <span role="status">${shown === 0 && fresh === 0 ? 'No call waits for an approval.' : fresh === 0 ? nothing : html`<button @click=${showNew}>Show ${plural(fresh, 'new call')}</button>`}</span>
    ${notifications()}
  </div>`;
}

function notifications() {
  if (!('Notification' in window) || Notification.permission === 'denied') {
    return nothing;
  }
  return Notification.permission === 'granted'
    ? html`<span class="hint">This browser notifies you.</span>`
    : html`<button @click=${() => Notification.requestPermission()}>Notify me in this browser</button>`;
}

/** @param {any} each */
function row(each) {
  return html`<tr data-testid="decided-${each.confirmation_id}">
    <th scope="row"><a href="#/approvals/${each.confirmation_id}">${foreign(each.server_id)} · ${foreign(each.tool_name)}</a></th>
    <td data-label="Asked by">${foreign(each.caller)}</td>
    <td data-label="Decision">${badge(each.decision ?? each.status)}</td>
    <td data-label="Decided by">${foreign(each.decided_by ?? '–')}</td>
    <td data-label="Reason">${foreign(each.reason ?? '–')}</td>
    <td data-label="Executed">${foreign(each.executed ?? '–')}</td>
    <td data-label="Expiry">${time(each.expires_at)}</td>
  </tr>`;
}
