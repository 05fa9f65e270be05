// @ts-check
import { text } from './api.js';
import { elements, member, pretty } from './json.js';
import { badge, code, download, failure, foreign, html, nothing, time } from './view.js';

const FIELDS = /** @type {Array<[name: string, label: string]>} */ ([
  ['event', 'Event'],
  ['principal', 'Principal'],
  ['server', 'Server'],
  ['kind', 'Kind'],
  ['name', 'Name'],
  ['decision', 'Decision'],
  ['outcome', 'Outcome'],
  ['code', 'Code'],
  ['call', 'Call id'],
  ['confirmation', 'Confirmation'],
  ['trace_id', 'Trace id'],
  ['door', 'Door'],
  ['since', 'Since'],
  ['until', 'Until'],
]);

/** Searches the audit trail; the search is in the address. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ query, changed }) {
  /** @type {string[]} */
  let records = [];
  let missing = /** @type {string[]} */ ([]);
  let cursor = '';
  let isBusy = false;
  /** @type {unknown} */
  let problem = null;

  const read = async () => {
    isBusy = true;
    problem = null;
    changed();
    try {
      const parameters = new URLSearchParams(FIELDS.map(([name]) => [name, query.get(name) ?? '']).filter(([, value]) => value !== ''));
      parameters.set('limit', '100');
      if (cursor) {
        parameters.set('cursor', cursor);
      }
      const page = await text(`audit?${parameters}`);
      records = [...records, ...elements(member(page, 'records') ?? '[]')];
      const parsed = JSON.parse(page);
      cursor = parsed.nextCursor ?? '';
      missing = parsed.missing_nodes ?? [];
    } catch (e) {
      problem = e;
    }
    isBusy = false;
    changed();
  };

  const search = (/** @type {SubmitEvent} */ e) => {
    e.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (e.target));
    const parameters = new URLSearchParams(FIELDS.map(([name]) => [name, String(form.get(name) ?? '').trim()]).filter(([, value]) => value !== ''));
    const next = `#/audit${parameters.size > 0 ? `?${parameters}` : ''}`;
    if (location.hash === next) {
      records = [];
      cursor = '';
      read();
    } else {
      location.hash = next;
    }
  };

  read();
  const view = () => html`
    <form class="card filters" @submit=${search}>
      ${FIELDS.map(([name, label]) => html`<label>${label} <input name=${name} value=${query.get(name) ?? ''} autocomplete="off" placeholder=${name === 'since' || name === 'until' ? '2026-01-31T12:00:00Z' : ''} /></label>`)}
      <div class="actions"><button class="primary">Search</button>
      <button type="button" ?disabled=${records.length === 0} @click=${() => download('audit.jsonl', 'application/jsonl', `${records.join('\n')}\n`)}>Download ${records.length} as JSON lines</button></div>
    </form>
    ${failure(problem)}
    ${missing.length > 0 ? html`<p class="failure" role="alert">These nodes did not answer: ${foreign(missing.join(', '))}</p>` : nothing}
    <p role="status" class="hint">${isBusy ? 'Searching…' : `${records.length} records${cursor ? ', there are more' : ''}`}</p>
    <ul class="list">${records.map((record) => row(record))}</ul>
    ${cursor ? html`<button ?disabled=${isBusy} @click=${read}>Show more</button>` : nothing}
  `;
  return { title: 'Audit trail', view };
}

/** @param {string} record */
function row(record) {
  const parsed = JSON.parse(record);
  const verdict = parsed.outcome ?? parsed.decision ?? parsed.state ?? parsed.action;
  return html`<li>
    <details @toggle=${(/** @type {Event} */ e) => prove(/** @type {HTMLDetailsElement} */ (e.target), record)}>
      <summary>
        ${time(parsed.at)} <strong>${foreign(parsed.event)}</strong> ${verdict ? badge(String(verdict)) : nothing}
        ${foreign([parsed.server, parsed.name].filter(Boolean).join(' · '))} ${parsed.principal ? html`by ${foreign(parsed.principal)}` : nothing}
        ${parsed.executed ? html`<span class="hint">executed: ${foreign(parsed.executed)}</span>` : nothing}
      </summary>
      <p>
        Number ${parsed.seq}${parsed.node ? html` of node ${foreign(parsed.node)}` : nothing}. <span class="proof"></span> The hash covers the hash of the
        record before; <code>mcp-bridge audit verify</code> checks all of them and the signatures.
      </p>
      ${parsed.call ? html`<p><a href="#/audit?call=${encodeURIComponent(parsed.call)}">All records of this call</a></p>` : nothing}
      ${code(pretty(record), 'Record')}
    </details>
  </li>`;
}

/**
 * Computes the hash of a record, as audit.md describes it.
 * @param {HTMLDetailsElement} details
 * @param {string} record
 */
async function prove(details, record) {
  const place = /** @type {HTMLElement} */ (details.querySelector('.proof'));
  const end = record.lastIndexOf(',"hash":"');
  if (!details.open || end < 0 || !crypto.subtle) {
    return;
  }
  const bytes = new TextEncoder().encode(`mcp-bridge/audit/1\0${record.slice(0, end)}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hash = Array.from(digest, (each) => each.toString(16).padStart(2, '0')).join('');
  place.textContent = record.slice(end) === `,"hash":"${hash}"}` ? 'The hash of this record is right.' : 'The hash of this record is WRONG.';
}
