// @ts-check
import { path, request } from './api.js';
import { may, readServers, store } from './store.js';
import { addressOf, badge, confirmed, failure, foreign, html, nothing, plural, time } from './view.js';

/** @typedef {import('./main.js').Place} Place */

/** All servers. @param {Place} place @returns {import('./main.js').Screen} */
export function open({ changed }) {
  let filter = '';
  /** @type {unknown} */
  let problem = null;
  let isAdding = false;
  let busy = '';

  /** @param {string} what @param {() => Promise<unknown>} action */
  const act = async (what, action) => {
    problem = null;
    busy = what;
    changed();
    try {
      await action();
    } catch (e) {
      problem = e;
    }
    busy = '';
    readServers();
    changed();
    return problem === null;
  };

  const added = async (/** @type {SubmitEvent} */ e) => {
    e.preventDefault();
    const form = /** @type {HTMLFormElement} */ (e.target);
    const body = entry(new FormData(form));
    if (await act('add', () => request('POST', 'servers', { body: JSON.stringify(body) }))) {
      isAdding = false;
      changed();
    }
  };

  const view = () => {
    const servers = store.servers;
    if (servers === null) {
      return store.problem ? failure(store.problem) : html`<p>Loading…</p>`;
    }
    const shown = servers.filter((server) => server.id.toLowerCase().includes(filter.toLowerCase()));
    return html`
      <div class="tools">
        <label>Filter <input type="search" .value=${filter} @input=${(/** @type {any} */ e) => { filter = e.target.value; changed(); }} /></label>
        <span class="hint" role="status">${summary(servers)}</span>
        ${may('admin')
          ? html`<button aria-expanded=${isAdding ? 'true' : 'false'} @click=${() => { isAdding = !isAdding; changed(); }}>Add a server</button>`
          : nothing}
      </div>
      ${failure(problem)} ${isAdding ? addForm(added, busy === 'add') : nothing}
      ${servers.length === 0
        ? html`<p>No server is configured. Add one to <code>mcpServers</code> in the configuration${may('admin') ? ', or here until the next restart' : ''}.</p>`
        : html`<table class="cards">
            <caption class="hidden">Servers</caption>
            <thead>
              <tr>
                ${['Server', 'State', 'Since', 'Tools', 'Running', 'Queued', 'Restarts', 'Node and processes', 'Last error'].map((title) => html`<th scope="col">${title}</th>`)}
                ${may('admin') ? html`<th scope="col">Actions</th>` : nothing}
              </tr>
            </thead>
            <tbody>
              ${shown.slice(0, 500).map((server) => row(server, act, busy))}
            </tbody>
          </table>`}
      ${shown.length > 500 ? html`<p>${plural(shown.length - 500, 'more server')}: use the filter.</p>` : nothing}
    `;
  };
  return { title: 'Servers', view };
}

/** @param {any[]} servers */
function summary(servers) {
  const failed = servers.filter((server) => server.state === 'failed').length;
  return `${plural(servers.length, 'server')}${failed ? `, ${failed} failed` : ''}`;
}

/** @param {any} server @param {Function} act @param {string} busy */
function row(server, act, busy) {
  return html`<tr data-testid="server-${server.id}">
    <th scope="row"><a href=${addressOf('servers', server.id)}>${foreign(server.id)}</a>${server.risk_level ? html` ${badge(`risk ${server.risk_level}`)}` : nothing}</th>
    <td data-label="State">${badge(server.state)}</td>
    <td data-label="Since">${time(server.since)}</td>
    <td data-label="Tools">${server.tool_count}</td>
    <td data-label="Running">${server.pending_calls}</td>
    <td data-label="Queued">${server.queued_calls}</td>
    <td data-label="Restarts">${server.restarts}</td>
    <td data-label="Node and processes">${server.node ? foreign(server.node) : nothing} ${server.pids.length ? `pid ${server.pids.join(', ')}` : server.node ? nothing : '–'}</td>
    <td data-label="Last error" class="wide">${server.last_error ? foreign(server.last_error) : '–'}</td>
    ${may('admin')
      ? html`<td data-label="Actions" class="wide"><div class="row-actions">${actions(server, act, busy)}</div></td>`
      : nothing}
  </tr>`;
}

/** Restart and stop. @param {any} server @param {Function} act @param {string} busy */
export function actions(server, act, busy) {
  const restart = () => act(`restart ${server.id}`, () => request('POST', path`servers/${server.id}/restart`, { body: '{}' }));
  const stop = async () => {
    const question = `Stop the server "${server.id}"? Its running calls fail. A server of the configuration starts again with the bridge.`;
    if (await confirmed(question, 'Stop')) {
      await act(`stop ${server.id}`, () => request('DELETE', path`servers/${server.id}`));
    }
  };
  return html`<button ?disabled=${busy !== ''} aria-label=${`Restart ${server.id}`} @click=${restart}>${busy === `restart ${server.id}` ? 'Restarting…' : 'Restart'}</button>
    <button ?disabled=${busy !== ''} aria-label=${`Stop ${server.id}`} @click=${stop}>Stop</button>`;
}

/** @param {(e: SubmitEvent) => void} added @param {boolean} busy */
function addForm(added, busy) {
  return html`<form class="card" @submit=${added}>
    <h2>Add a server</h2>
    <p class="hint">It runs until the bridge is restarted.</p>
    <label>Name <input name="id" required pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*" maxlength="63" autocomplete="off" /></label>
    <label>Program <input name="command" required autocomplete="off" placeholder="npx" /></label>
    <label>Arguments, one per line <textarea name="args" rows="3" spellcheck="false"></textarea></label>
    <label>Environment, one NAME=value per line <textarea name="env" rows="2" spellcheck="false"></textarea></label>
    <label>Working folder <input name="cwd" autocomplete="off" /></label>
    <label>Risk level of its tools
      <select name="riskLevel"><option value="">by their names</option><option value="1">1 – run</option><option value="2">2 – ask a human</option><option value="3">3 – run in a container</option></select></label>
    <label>Image of the container, for level 3 <input name="image" autocomplete="off" placeholder="name:tag" /></label>
    <div class="actions"><button class="primary" ?disabled=${busy}>${busy ? 'Starting…' : 'Start'}</button></div>
  </form>`;
}

/** @param {FormData} form */
function entry(form) {
  const lines = (/** @type {string} */ name) => String(form.get(name) ?? '').split('\n').map((line) => line.trim()).filter(Boolean);
  const value = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
  const env = lines('env').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]);
  return {
    id: value('id'),
    command: value('command'),
    args: lines('args'),
    ...(env.length ? { env: Object.fromEntries(env) } : {}),
    ...(value('cwd') ? { cwd: value('cwd') } : {}),
    ...(value('riskLevel') ? { riskLevel: Number(value('riskLevel')) } : {}),
    ...(value('image') ? { docker: { image: value('image') } } : {}),
  };
}
