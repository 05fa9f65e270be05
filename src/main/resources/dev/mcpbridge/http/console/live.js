// @ts-check
import { json, path, request } from './api.js';
import { store } from './store.js';
import { addressOf, badge, duration, failure, foreign, html, nothing, plural } from './view.js';

const INTERVAL_MILLIS = 1000;
const SHOWN = 200;

/** The calls that run, and those that have just ended. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ changed }) {
  let calls = /** @type {any[] | null} */ (null);
  let missing = /** @type {string[]} */ ([]);
  /** @type {unknown} */
  let problem = null;
  let filter = '';
  let isPaused = false;
  let isReading = false;

  const read = async () => {
    if (isReading || isPaused || document.hidden) {
      return;
    }
    isReading = true;
    try {
      const listed = await json('calls');
      calls = listed.calls;
      missing = listed.missing_nodes ?? [];
      problem = null;
    } catch (e) {
      problem = e;
    }
    isReading = false;
    changed();
  };
  const timer = setInterval(read, INTERVAL_MILLIS);
  read();

  /** @param {string} id */
  const cancel = async (id) => {
    try {
      await request('DELETE', path`calls/${id}`);
    } catch (e) {
      problem = e;
    }
    read();
  };

  const view = () => {
    const wanted = filter.toLowerCase();
    const found = (calls ?? []).filter((call) => `${call.server_id} ${call.name} ${call.caller} ${call.door} ${call.outcome ?? ''}`.toLowerCase().includes(wanted));
    const running = found.filter((call) => call.state === 'running');
    const ended = found.filter((call) => call.state !== 'running');
    return html`${failure(problem)}
      ${missing.length > 0 ? html`<p class="failure" role="alert">These nodes did not answer: ${foreign(missing.join(', '))}</p>` : nothing}
      <div class="tools">
        <label>Filter <input type="search" .value=${filter} @input=${(/** @type {any} */ e) => { filter = e.target.value; changed(); }} /></label>
        <button aria-pressed=${isPaused ? 'true' : 'false'} @click=${() => { isPaused = !isPaused; read(); changed(); }}>${isPaused ? 'Go on' : 'Pause'}</button>
        <span class="hint" role="status">${calls === null ? 'Loading…' : `${plural(running.length, 'call')} running`}</span>
      </div>
      ${table('Running', running, cancel)} ${table('Ended', ended, cancel)}`;
  };
  return { title: 'Live', view, close: () => clearInterval(timer) };
}

/** @param {string} title @param {any[]} calls @param {(id: string) => void} cancel */
function table(title, calls, cancel) {
  return html`<h2>${title}</h2>
    ${calls.length === 0
      ? html`<p class="hint">None.</p>`
      : html`<table class="cards">
            <caption class="hidden">${title} calls</caption>
            <thead><tr>${['Call', 'Caller', 'Door', 'Age', 'Outcome', 'Executed', ''].map((name) => html`<th scope="col">${name || html`<span class="hidden">Actions</span>`}</th>`)}</tr></thead>
            <tbody>${calls.slice(0, SHOWN).map((call) => row(call, cancel))}</tbody>
          </table>
          ${calls.length > SHOWN ? html`<p>${plural(calls.length - SHOWN, 'more call')}: use the filter.</p>` : nothing}`}`;
}

/** @param {any} call @param {(id: string) => void} cancel */
function row(call, cancel) {
  const isRunning = call.state === 'running';
  return html`<tr data-testid="call-${call.call_id}">
    <th scope="row"><a href=${addressOf('servers', call.server_id)}>${foreign(call.server_id)}</a> · ${foreign(call.name)}${call.node ? html` <span class="hint">${foreign(call.node)}</span>` : nothing}</th>
    <td data-label="Caller">${foreign(call.caller)}</td>
    <td data-label="Door">${foreign(call.door)}</td>
    <td data-label=${isRunning ? 'Age' : 'Took'}>${duration(isRunning ? Date.now() - Date.parse(call.started_at) : call.ms)}</td>
    <td data-label="Outcome">${badge(call.outcome ?? 'running')} ${call.code ? foreign(call.code) : nothing}</td>
    <td data-label="Executed">${foreign(call.executed ?? '–')}</td>
    <td data-label="Actions">${isRunning && call.caller === store.me?.principal ? html`<button aria-label=${`Cancel ${call.name}`} @click=${() => cancel(call.call_id)}>Cancel</button>` : '–'}</td>
  </tr>`;
}
