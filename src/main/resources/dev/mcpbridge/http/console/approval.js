// @ts-check
import { events, path, Problem, request, text } from './api.js';
import { differences } from './difference.js';
import { member, pretty } from './json.js';
import { result } from './result.js';
import { may, store } from './store.js';
import { badge, code, facts, failure, foreign, html, MAX_CODE, nothing, say, time } from './view.js';

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
 * @param {{changed: () => void, decided?: () => void, isFresh?: boolean}} use a fresh one comes from its call: without a token, an operator decides
 */
export function approval(held, { changed, decided, isFresh = false }) {
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
  let progress = '';

  /** The parts of the call that were folded and not opened. @type {Set<string>} */
  let unread = new Set();
  let isComplete = false;
  /** @type {unknown} */
  let unreadable = null;
  let timer = 0;

  /** What is shown has changed: the buttons wait. */
  const lock = () => {
    isLocked = true;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      isLocked = false;
      changed();
    }, LOCKED_MILLIS);
  };

  /** The definition, and whether it has changed, are known before anything can be decided. */
  const read = async () => {
    unreadable = null;
    try {
      const shown = await text(path`confirmations/${id}`);
      details = JSON.parse(shown).status === 'pending' ? shown : held;
      isComplete = true;
    } catch (e) {
      unreadable = e;
    }
    unread = new Set(partsOf(details).filter(([, json]) => pretty(json).length > MAX_CODE).map(([title]) => title));
    lock();
    changed();
  };
  read();

  /** @param {boolean} confirm */
  const decide = async (confirm) => {
    busy = confirm ? 'approve' : 'refuse';
    problem = null;
    let isTaken = false;
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
      isTaken = true;
      confirm ? await received(response) : (isRejected = true);
      isOver = true;
      say(confirm ? 'Approved and run' : 'Refused');
    } catch (e) {
      problem = e;
      isOver = isTaken || (e instanceof Problem && ['confirmation_not_found', 'confirmation_expired', 'tool_changed', 'definition_changed'].includes(e.code));
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
        progress = event.data;
        changed();
      }
    }
    if (!outcome) {
      throw new Problem(0, { detail: 'The connection has ended without an outcome. The call may have been run: see Live and Audit.' });
    }
  };

  const decisions = () => {
    const isOwn = store.me?.principal === confirmation.caller;
    const isOperators = !isOwn || (isFresh && !confirmation.token);
    if (isOperators && !may('approve')) {
      return html`<p class="hint">A person with the scope “approve” decides.</p>`;
    }
    return html`${!isOperators && !confirmation.token
        ? html`<label>Token that came with it, for your own call <input type="password" autocomplete="off" .value=${entered} @input=${(/** @type {any} */ e) => (entered = e.target.value.trim())} /></label>`
        : nothing}
      ${unread.size > 0 ? html`<p class="hint" role="status">Open the rest of what is too long to be shown at once, to approve.</p>` : nothing}
      <label>Reason, if it is refused <input maxlength="500" .value=${reason} @input=${(/** @type {any} */ e) => (reason = e.target.value)} /></label>
      <div class="decide">
        <button class="danger" data-testid="refuse" ?disabled=${isLocked || busy !== ''} @click=${() => decide(false)}>${busy === 'refuse' ? 'Refusing…' : 'Refuse'}</button>
        <button class="primary" data-testid="approve" ?disabled=${isLocked || !isComplete || unread.size > 0 || busy !== ''} @click=${() => decide(true)}>${busy === 'approve' ? 'Running…' : 'Approve and run'}</button>
      </div>`;
  };

  const opened = (/** @type {string} */ title) => {
    unread.delete(title);
    changed();
  };

  /** Drawn again only if it has changed: a comparison takes time. */
  let drawn = { of: '', markup: /** @type {unknown} */ (nothing) };
  const definitionShown = () => {
    if (drawn.of !== details) {
      drawn = { of: details, markup: definition(details) };
    }
    return drawn.markup;
  };

  const view = () => html`<article class="card approval" data-testid="approval-${id}" aria-label=${`Call of ${confirmation.tool_name} at ${confirmation.server_id}`}>
    <h2><a href="#/approvals/${id}">${foreign(confirmation.server_id)} · ${foreign(confirmation.tool_name)}</a></h2>
    ${described(confirmation, JSON.parse(details))}
    ${partsOf(details).map(([title, json]) => html`<h3>${title}</h3>${code(pretty(json), title, () => opened(title))}`)}
    ${unreadable ? html`<p role="alert" class="failure">The definition could not be read, so nothing can be approved yet. <button @click=${read}>Read it again</button></p>${failure(unreadable)}` : nothing}
    ${definitionShown()}
    <p class="hint">Digest of all this: <details class="inline"><summary><code>${confirmation.digest.slice(0, 19)}…</code></summary><code>${confirmation.digest}</code></details></p>
    ${problem ? html`<p role="alert" class="failure">${WORDS[/** @type {any} */ (problem).code] ?? ''}</p>${failure(problem)}` : nothing}
    ${isRejected ? html`<p role="status">${badge('rejected')} The call was refused.</p>` : nothing}
    ${progress && !outcome ? html`<p role="status">${foreign(progress)}</p>` : nothing}
    ${outcome ? html`<p role="status">${badge('approved')} The call was run.</p>${result(outcome)}` : nothing}
    ${isOver ? nothing : decisions()}
  </article>`;

  return { id, view, isOver: () => isOver, isBusy: () => busy !== '', outcome: () => outcome, problem: () => problem };
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

/** All that reaches the server, as the bytes say. @param {string} details @returns {Array<[title: string, json: string]>} */
function partsOf(details) {
  const parts = /** @type {Array<[string, string]>} */ ([
    ['Arguments', member(details, 'arguments') ?? '{}'],
    ['Other parameters', member(details, 'params')],
    ['Metadata', member(details, '_meta')],
  ]);
  return parts.filter(([, json]) => json !== undefined);
}

/** @param {string} details */
function definition(details) {
  const now = member(details, 'definition');
  const before = member(details, 'definition_before');
  if (now === undefined) {
    return may('approve') && member(details, 'method') === '"tools/call"' && member(details, 'risk_reason') === undefined
      ? html`<p class="hint">The definition of the tool is not known at present.</p>`
      : nothing;
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
