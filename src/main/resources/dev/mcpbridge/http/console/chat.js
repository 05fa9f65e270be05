// @ts-check
import { ask, enter, proceed, skipped, startAgain, talk } from './conversation.js';
import { member, pretty } from './json.js';
import { MAX_EXACT } from './responses.js';
import { result } from './result.js';
import { store } from './store.js';
import { badge, code, failure, foreign, html, long, nothing } from './view.js';

/** @typedef {import('./conversation.js').Call} Call @typedef {import('./conversation.js').Part} Part */

/** The screen of the conversation. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ changed }) {
  enter(changed, store.me?.principal ?? '');
  return { title: 'Chat', view };
}

function view() {
  const agent = store.me?.agent;
  if (!agent) {
    return html`<p>No model is configured here, or it is not for you: see <code>agent</code> in the configuration.</p>`;
  }
  return html`<p class="hint">You talk to ${foreign(agent.model)}. It gets the tools that you may use; what they answer goes to it as well.</p>
    <ol class="list chat" aria-label="Conversation">${talk.parts.filter((part) => part.user !== undefined || part.text || part.note || part.calls.length > 0).map(shown)}</ol>
    ${failure(talk.problem)} ${talk.problem ? html`<button data-testid="again" @click=${proceed}>Try again</button>` : nothing}
    ${talk.abort ? html`<p role="status">${waitsFor()} <button data-testid="stop" @click=${() => talk.abort?.abort()}>Stop</button></p>` : nothing}
    ${inputs()}`;
}

const waitsFor = () => {
  const calls = talk.parts.at(-1)?.calls ?? [];
  return calls.some((call) => call.settle) ? 'A call waits for you.' : calls.length > 0 ? 'The tools are working…' : 'The model is working…';
};

function inputs() {
  const send = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (!talk.abort && talk.draft.trim()) {
      ask(talk.draft.trim());
    }
  };
  return html`<form class="card" @submit=${send}>
    <label for="question">Your question</label>
    <textarea id="question" rows="3" .value=${talk.draft} @input=${(/** @type {any} */ e) => (talk.draft = e.target.value)} @keydown=${(/** @type {KeyboardEvent} */ e) => e.key === 'Enter' && !e.shiftKey && !e.isComposing && send(e)}></textarea>
    <div class="actions">
      <button class="primary" data-testid="ask" ?disabled=${talk.abort !== null}>Ask</button>
      <button type="button" data-testid="start-again" ?disabled=${talk.abort !== null || talk.parts.length === 0} @click=${startAgain}>Start again</button>
    </div>
  </form>`;
}

/** @param {Part} part */
function shown(part) {
  return part.user !== undefined
    ? html`<li class="card"><strong>You</strong><div class="text">${long(part.user, 4000)}</div></li>`
    : html`<li class="card"><strong>Model</strong> ${part.text ? html`<div class="text">${long(part.text, 20_000)}</div>` : nothing} ${part.calls.map(shownCall)} ${part.note ? html`<p class="hint">${foreign(part.note)}</p>` : nothing}</li>`;
}

/** What was drawn of a call, and of which response. @type {WeakMap<object, {of: string, badge: string, markup: unknown}>} */
const drawn = new WeakMap();

/** Drawn again only if it has changed. @param {Call} call */
function outcomeOf(call) {
  let last = drawn.get(call);
  if (last?.of !== call.response) {
    const { outcome, output } = JSON.parse(call.response || '{}');
    const content = call.response.length > MAX_EXACT ? undefined : member(call.response || '{}', 'content');
    const label = `Outcome of call ${call.number}`;
    last = {
      of: call.response,
      badge: outcome ?? 'running',
      markup: content ? result(`{"content":${content}}`) : output ? html`<div class="code" tabindex="0" role="region" aria-label=${label}>${long(output.result ?? output.error ?? '', 20_000)}</div>` : nothing,
    };
    drawn.set(call, last);
  }
  return last;
}

/** @param {Call} call */
function shownCall(call) {
  const outcome = outcomeOf(call);
  const consent = call.settle && JSON.parse(call.response || '{}').problem?.connect_url;
  return html`<details ?open=${call.settle !== null}><summary>${foreign(call.name)} ${badge(outcome.badge)}</summary>
      ${call.settle && call.held ? nothing : code(pretty(call.arguments), `Arguments of call ${call.number}`)}
      ${call.settle ? nothing : outcome.markup}
    </details>
    ${call.settle && call.held ? call.held.view() : nothing}
    ${consent ? html`<p>The call needs your consent: <a href=${/^https?:/.test(consent) ? consent : nothing} target="_blank" rel="noopener noreferrer">${foreign(consent)}</a></p><button class="primary" @click=${() => call.settle?.('')}>I have agreed: run it</button>` : nothing}
    ${call.settle ? html`<button data-testid="skip" ?disabled=${call.held?.isBusy() ?? false} @click=${() => call.settle?.(skipped(call))}>Go on without it</button>` : nothing}`;
}
