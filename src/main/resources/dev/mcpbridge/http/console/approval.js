// @ts-check
import { events, path, Problem, request, text } from './api.js';
import { differences } from './difference.js';
import { member, pretty } from './json.js';
import { result } from './result.js';
import { may, store } from './store.js';
import { badge, code, facts, failure, foreign, html, nothing, say, time } from './view.js';

/** A click that was meant for something else does not approve. */
const LOCKED_MILLIS = 600;

/** What a refused decision means to the person who made it. @type {Record<string, string>} */
const WORDS = {
  confirmation_not_found: 'It was decided already, or it is unknown. Nothing was run by this click.',
  confirmation_expired: 'It has expired. Nothing was run; the caller can ask again.',
  tool_changed: 'The definition or the program has changed since it was shown. The call was not run; the caller can ask again.',
  definition_changed: 'The server has changed the definition. The call was not run; the definition can be approved under Pins.',
  rate_limited: 'Too many wrong tokens. Try again later.',
};

/** @type {Record<string, string>} */
const REASONS = {
  tool: 'a rule of the operator for this tool',
  server: 'the level of its server',
  default: 'the level of servers without one',
  annotation: 'its server says that it is destructive',
  method: 'the HTTP method of the operation',
  access: 'an access rule for this caller',
};

/**
 * A call that waits for a decision, exactly as the bridge holds it.
 *
 * @param {string} held JSON of the confirmation
 * @param {{changed: () => void, decided?: () => void}} use
 */
export function approval(held, { changed, decided }) {
  const confirmation = JSON.parse(held);
  const id = confirmation.confirmation_id;
  let details = held;
  let isLocked = true;
  let busy = '';
  let reason = '';
  let entered = '';
  /** @type {unknown} */
  let problem = null;
  let outcome = '';
  let isRejected = false;
  let isOver = false;
  /** @type {string[]} */
  const progress = [];

  const lock = () => {
    isLocked = true;
    setTimeout(() => {
      isLocked = false;
      changed();
    }, LOCKED_MILLIS);
  };
  lock();
  text(path`confirmations/${id}`).then(
    (shown) => {
      if (JSON.parse(shown).status === 'pending') {
        details = shown;
        lock();
        changed();
      }
    },
    () => {},
  );

  /** @param {boolean} confirm */
  const decide = async (confirm) => {
    busy = confirm ? 'approve' : 'refuse';
    problem = null;
    changed();
    try {
      const response = await request('POST', path`confirmations/${id}`, {
        body: JSON.stringify({
          confirm,
          ...(confirmation.token || entered ? { token: confirmation.token || entered } : {}),
          ...(!confirm && reason ? { reason } : {}),
        }),
        headers: { accept: confirm ? 'text/event-stream' : 'application/json' },
      });
      confirm ? await received(response) : (isRejected = true);
      isOver = true;
      say(confirm ? 'Approved and run' : 'Refused');
    } catch (e) {
      problem = e;
      isOver = e instanceof Problem && ['confirmation_not_found', 'confirmation_expired', 'tool_changed', 'definition_changed'].includes(e.code);
    }
    busy = '';
    decided?.();
    changed();
  };

  /** @param {Response} response */
  const received = async (response) => {
    for await (const event of events(response)) {
      if (event.event === 'result') {
        outcome = event.data;
      } else if (event.event === 'error') {
        throw new Problem(JSON.parse(event.data).status, JSON.parse(event.data));
      } else {
        progress.push(event.data);
        changed();
      }
    }
  };

  const decisions = () => {
    const isOwn = store.me?.principal === confirmation.caller;
    if (!isOwn && !may('approve')) {
      return html`<p class="hint">A person with the scope “approve” decides.</p>`;
    }
    return html`${isOwn && !confirmation.token
        ? html`<label>Token that came with it, for your own call <input type="password" autocomplete="off" .value=${entered} @input=${(/** @type {any} */ e) => (entered = e.target.value.trim())} /></label>`
        : nothing}
      <label>Reason, if it is refused <input maxlength="500" .value=${reason} @input=${(/** @type {any} */ e) => (reason = e.target.value)} /></label>
      <div class="decide">
        <button class="danger" data-testid="refuse" ?disabled=${isLocked || busy !== ''} @click=${() => decide(false)}>${busy === 'refuse' ? 'Refusing…' : 'Refuse'}</button>
        <button class="primary" data-testid="approve" ?disabled=${isLocked || busy !== ''} @click=${() => decide(true)}>${busy === 'approve' ? 'Running…' : 'Approve and run'}</button>
      </div>`;
  };

  const view = () => html`<article class="card approval" data-testid="approval-${id}" aria-label=${`Call of ${confirmation.tool_name} at ${confirmation.server_id}`}>
    <h2><a href="#/approvals/${id}">${foreign(confirmation.server_id)} · ${foreign(confirmation.tool_name)}</a></h2>
    ${described(confirmation, JSON.parse(details))}
    ${argumentsOf(details)}
    ${definition(details)}
    <p class="hint">Digest of all this: <details class="inline"><summary><code>${confirmation.digest.slice(0, 19)}…</code></summary><code>${confirmation.digest}</code></details></p>
    ${problem ? html`<p role="alert" class="failure">${WORDS[/** @type {any} */ (problem).code] ?? ''}</p>${failure(problem)}` : nothing}
    ${isRejected ? html`<p role="status">${badge('rejected')} The call was refused.</p>` : nothing}
    ${progress.length && !outcome ? html`<p role="status">${foreign(progress.at(-1))}</p>` : nothing}
    ${outcome ? html`<p role="status">${badge('approved')} The call was run.</p>${result(outcome)}` : nothing}
    ${isOver ? nothing : decisions()}
  </article>`;

  return { id, view, isOver: () => isOver, isBusy: () => busy !== '' };
}

/** @param {any} confirmation @param {any} details */
function described(confirmation, details) {
  return facts([
    ['Tool', confirmation.method === 'tools/call' ? confirmation.tool_name : `${confirmation.tool_name} (${confirmation.method})`],
    ['Server', confirmation.server_id],
    ['Asked by', confirmation.caller],
    ['Risk', html`${confirmation.risk_level} – ${confirmation.risk_description}${details.risk_reason ? html`: ${REASONS[details.risk_reason] ?? details.risk_reason}` : nothing}`],
    ['Expires', time(confirmation.expires_at)],
  ]);
}

/** All that reaches the server, as the bytes say. @param {string} details */
function argumentsOf(details) {
  const parts = /** @type {Array<[string, string]>} */ ([
    ['Arguments', member(details, 'arguments') ?? '{}'],
    ['Other parameters', member(details, 'params')],
    ['Metadata', member(details, '_meta')],
  ]).filter(([, json]) => json !== undefined);
  return parts.map(([title, json]) => html`<h3>${title}</h3>${code(pretty(json), title)}`);
}

/** @param {string} details */
function definition(details) {
  const now = member(details, 'definition');
  const before = member(details, 'definition_before');
  if (now === undefined) {
    return nothing;
  }
  const findings = JSON.parse(member(details, 'findings') ?? '[]');
  return html`
    ${member(details, 'definition_changed') === 'true'
      ? html`<p class="failure" role="alert">The definition has changed since the call was held. It cannot be approved any longer.</p>`
      : nothing}
    ${before === undefined
      ? html`<details><summary>Definition of the tool, in the words of its server</summary>${code(pretty(now), 'Definition')}</details>`
      : html`<h3>The definition is not the one that was approved last</h3>
          ${findings.length ? html`<p>${findings.map((/** @type {string} */ each) => badge(each))}</p>` : nothing}
          ${differences(pretty(before), pretty(now), 'Differences')}`}
  `;
}
