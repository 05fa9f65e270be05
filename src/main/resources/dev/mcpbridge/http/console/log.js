// @ts-check
import { events, path, Problem, request } from './api.js';
import { download, failure, foreign, html, nothing, plural } from './view.js';

const MAX_LINES = 2000;
const SHOWN = 500;
const RETRY_MILLIS = 3000;

/**
 * What a server writes to its standard error, as it is written.
 * @param {string} id
 * @param {() => void} changed
 */
export function log(id, changed) {
  /** @type {any[]} */
  let lines = [];
  let filter = '';
  let isPaused = false;
  let isWrapped = true;
  let last = 0;
  /** @type {unknown} */
  let problem = null;
  const closing = new AbortController();

  const listen = async () => {
    while (!closing.signal.aborted) {
      try {
        const response = await request('GET', `${path`servers/${id}/log`}?after=${last}`, { headers: { accept: 'text/event-stream' }, signal: closing.signal });
        problem = null;
        for await (const event of events(response)) {
          if (event.event === 'line') {
            received(JSON.parse(event.data));
          }
        }
      } catch (e) {
        problem = closing.signal.aborted ? null : e;
        if (e instanceof Problem && e.status >= 400 && e.status < 500) {
          changed();
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
    }
  };

  /** @param {any} line */
  const received = (line) => {
    last = line.number;
    lines.push(line);
    if (lines.length > MAX_LINES) {
      lines.splice(0, lines.length - MAX_LINES);
    }
    if (!isPaused) {
      changed();
    }
  };
  /** @type {any[]} */
  let frozen = [];
  const pause = () => {
    isPaused = !isPaused;
    frozen = [...lines];
    changed();
  };

  listen();
  const view = () => {
    const all = isPaused ? frozen : lines;
    const wanted = filter.toLowerCase();
    const found = wanted ? all.filter((line) => line.text.toLowerCase().includes(wanted)) : all;
    return html`<section aria-labelledby="log">
      <h2 id="log">Log</h2>
      ${failure(problem)}
      <div class="tools">
        <label>Filter <input type="search" .value=${filter} @input=${(/** @type {any} */ e) => { filter = e.target.value; changed(); }} /></label>
        <button aria-pressed=${isPaused ? 'true' : 'false'} @click=${pause}>${isPaused ? 'Go on' : 'Pause'}</button>
        <label class="inline"><input type="checkbox" .checked=${isWrapped} @change=${() => { isWrapped = !isWrapped; changed(); }} /> Wrap</label>
        <button ?disabled=${all.length === 0} @click=${() => download(`${id}.log`, 'text/plain', all.map((line) => `${line.at} ${line.pid ?? ''} ${line.text}\n`).join(''))}>Download</button>
        <span class="hint">${plural(found.length, 'line')}${found.length > SHOWN ? `, the last ${SHOWN} are shown` : ''}</span>
      </div>
      <div class="code log ${isWrapped ? '' : 'unwrapped'}" tabindex="0" role="region" aria-label="Lines of the log" data-testid="log">
        ${found.length === 0 ? html`<span class="hint">Nothing was written.</span>` : nothing}
        ${found.slice(-SHOWN).map((line) => html`<div><time datetime=${line.at}>${line.at.slice(11, 23)}</time> <span class="hint">${line.pid}</span> ${foreign(line.text)}</div>`)}
      </div>
    </section>`;
  };
  return { view, close: () => closing.abort() };
}
