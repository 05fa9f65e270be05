// @ts-check
import { json, path, request } from './api.js';
import { subscribe } from './store.js';
import { differences } from './difference.js';
import { repeat } from './lit/directives/repeat.js';
import { addressOf, badge, failure, foreign, html, nothing, plural, time } from './view.js';

const MAX_CARDS = 200;

/** What differs from what was approved. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ parameters: [server], changed }) {
  return server === undefined ? overview(changed) : ofServer(server, changed);
}

/** @param {() => void} changed */
function overview(changed) {
  let servers = /** @type {any[] | null} */ (null);
  /** @type {unknown} */
  let problem = null;
  const read = () =>
    json('pins').then(
      (listed) => {
        servers = listed.servers;
        changed();
      },
      (e) => {
        problem = e;
        changed();
      },
    );
  read();
  const view = () => html`${failure(problem)}
    ${servers?.length === 0 ? html`<p>No server has definitions that are compared: see <code>pins</code> in the configuration.</p>` : nothing}
    ${servers?.length
      ? html`<table class="cards">
          <caption class="hidden">Servers and the states of their definitions</caption>
          <thead><tr>${['Server', 'Changed ones', 'New ones', 'Held', 'States'].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
          <tbody>${servers.map(
            (each) => html`<tr>
              <th scope="row"><a href=${addressOf('pins', each.server)}>${foreign(each.server)}</a></th>
              <td data-label="Changed ones">${each.changed}</td>
              <td data-label="New ones">${each.new}</td>
              <td data-label="Held">${each.held ?? 0}</td>
              <td data-label="States">${Object.entries(each.states ?? {}).map(([state, count]) => html`${badge(state)} ${count} `)}</td>
            </tr>`,
          )}</tbody>
        </table>`
      : nothing}`;
  return { title: 'Pins', view, close: subscribe((event) => event === 'pins' && read()) };
}

/** @param {string} server @param {() => void} changed */
function ofServer(server, changed) {
  let page = /** @type {any} */ (null);
  /** @type {unknown} */
  let problem = null;
  let isBusy = false;
  let isAll = false;

  /** Whether the definitions have changed since they were shown; they are not replaced under a click. */
  let isStale = false;

  const read = async () => {
    isStale = false;
    try {
      page = await json(path`servers/${server}/pins`);
    } catch (e) {
      problem = e;
    }
    changed();
  };

  /** What is decided is what is shown: by its digest. @param {any[]} definitions @param {string} decision */
  const decide = async (definitions, decision) => {
    isBusy = true;
    problem = null;
    changed();
    try {
      const decisions = definitions.map(({ kind, name, digest }) => ({ kind, ...(kind === 'instructions' ? {} : { name }), digest, decision }));
      await request('POST', path`servers/${server}/pins`, { body: JSON.stringify({ decisions }) });
    } catch (e) {
      problem = e;
    }
    isBusy = false;
    await read();
  };

  read();
  const view = () => {
    const definitions = page?.definitions ?? [];
    const open_ = definitions.filter((/** @type {any} */ each) => ['changed', 'new'].includes(each.state));
    const shown = isAll ? definitions : definitions.filter((/** @type {any} */ each) => each.state !== 'approved');
    const whole = open_.filter((/** @type {any} */ each) => !each.more && shown.indexOf(each) < MAX_CARDS);
    return html`<p class="crumbs"><a href="#/pins">Pins</a> / ${foreign(server)}</p>
      ${failure(problem)}
      <div class="tools">
        ${isStale ? html`<button @click=${read}>The definitions have changed: show them</button>` : nothing}
        ${whole.length > 1 ? html`<button class="primary" ?disabled=${isBusy} @click=${() => decide(whole, 'approve')}>Approve the ${whole.length} as shown</button>` : nothing}
        <label class="inline"><input type="checkbox" .checked=${isAll} @change=${() => { isAll = !isAll; changed(); }} /> Approved ones too</label>
        <span role="status" class="hint">${page ? `${plural(definitions.length, 'definition')}, ${open_.length} to be looked at` : 'Loading…'}</span>
      </div>
      ${repeat(
        shown.slice(0, MAX_CARDS),
        (/** @type {any} */ each) => `${each.kind} ${each.name} ${each.digest}`,
        (/** @type {any} */ each) => card(each, decide, isBusy),
      )}
      ${shown.length > MAX_CARDS ? html`<p>${plural(shown.length - MAX_CARDS, 'more definition')}</p>` : nothing}`;
  };
  return {
    title: `Pins of ${server}`,
    view,
    close: subscribe((event, data) => {
      if ((event === 'pins' || event === 'catalogue') && data.server === server && !isBusy) {
        isStale = page !== null;
        changed();
      }
    }),
  };
}

/** @param {any} each @param {(definitions: any[], decision: string) => void} decide @param {boolean} isBusy */
function card(each, decide, isBusy) {
  const pin = each.approved ?? each.blocked;
  return html`<article class="card" aria-label=${`${each.kind} ${each.name}`}>
    <h2>${each.kind} ${foreign(each.name)}</h2>
    <p>${badge(each.state)} ${each.held ? badge('held') : nothing} ${(each.findings ?? []).map((/** @type {string} */ finding) => badge(finding))}</p>
    ${pin ? html`<p class="hint">${each.approved ? 'Approved' : 'Blocked'} ${time(pin.at)} by ${foreign(pin.by)}</p>` : nothing}
    ${(each.differences ?? []).map(difference)}
    ${each.more ? html`<p class="hint">There are more differences than these.</p>` : nothing}
    ${each.digest
      ? html`<p class="hint">Digest <code>${each.digest}</code></p>
          <div class="actions">
            ${each.state === 'approved' ? nothing : html`<button class="primary" ?disabled=${isBusy} aria-label=${`Approve ${each.kind} ${each.name}`} @click=${() => decide([each], 'approve')}>Approve this one</button>`}
            ${each.state === 'blocked' ? nothing : html`<button class="danger" ?disabled=${isBusy} aria-label=${`Block ${each.kind} ${each.name}`} @click=${() => decide([each], 'block')}>Block</button>`}
          </div>`
      : nothing}
  </article>`;
}

/** @param {any} each */
function difference(each) {
  const at = each.at || '/';
  return html`<h3><code>${foreign(at)}</code></h3>
    ${each.before === undefined || each.after === undefined ? html`<p class="hint">${each.before === undefined ? 'Added' : 'Removed'}</p>` : nothing}
    ${differences(each.before ?? '', each.after ?? '', `Difference at ${at}`)}`;
}
