// @ts-check
import { json, path, Problem } from './api.js';
import { actions } from './servers.js';
import { may, readServers, store, subscribe } from './store.js';
import { log } from './log.js';
import { addressOf, badge, facts, failure, foreign, html, long, nothing, plural, time } from './view.js';

const MAX_ROWS = 500;

/** One server with what it offers. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ parameters: [id], query, changed }) {
  let server = /** @type {any} */ (null);
  let tools = /** @type {any[]} */ ([]);
  let resources = /** @type {any[]} */ ([]);
  let templates = /** @type {any[]} */ ([]);
  let prompts = /** @type {any[]} */ ([]);
  /** @type {unknown} */
  let problem = null;
  let busy = '';
  let filter = query.get('q') ?? '';
  const lines = may('admin') ? log(id, changed) : null;

  const read = async () => {
    try {
      server = await json(path`servers/${id}`);
      problem = null;
      if (server.connected || server.tool_count > 0) {
        [tools, resources, templates, prompts] = await Promise.all([
          list(path`servers/${id}/tools`, 'tools'),
          list(path`servers/${id}/resources`, 'resources'),
          list(path`servers/${id}/resource-templates`, 'resourceTemplates'),
          list(path`servers/${id}/prompts`, 'prompts'),
        ]);
        tools = tools.map((tool) => ({ ...tool, found: `${tool.name}\n${tool.title ?? ''}\n${tool.description ?? ''}`.slice(0, 4000).toLowerCase() }));
      }
    } catch (e) {
      problem = e;
    }
    changed();
  };

  /** @param {string} what @param {() => Promise<unknown>} action */
  const act = async (what, action) => {
    busy = what;
    problem = null;
    changed();
    /** @type {unknown} */
    let refused = null;
    try {
      await action();
    } catch (e) {
      refused = e;
    }
    busy = '';
    readServers();
    await read();
    problem ??= refused;
    changed();
  };

  let last = '';
  const unsubscribe = subscribe((event, data) => {
    const listed = store.servers?.find((each) => each.id === id);
    const state = JSON.stringify(listed && [listed.state, listed.since, listed.tool_count]);
    if ((event === 'store' && state !== last && busy === '') || ((event === 'catalogue' || event === 'pins') && data.server === id)) {
      last = state;
      read();
    }
  });
  read();

  const view = () => html`
    <p class="crumbs"><a href="#/servers">Servers</a> / ${foreign(id)}</p>
    ${failure(problem)}
    ${server === null
      ? problem
        ? nothing
        : html`<p>Loading…</p>`
      : html`
          ${description(server)}
          ${may('admin') ? html`<div class="actions">${actions(server, act, busy)}</div>` : nothing}
          ${toolList()}
          ${section('Resources', resources, (each) => html`<code>${foreign(each.uri)}</code> ${foreign(each.title ?? each.name ?? '')}`, (each) => each.description)}
          ${section('Resource templates', templates, (each) => html`<code>${foreign(each.uriTemplate)}</code> ${foreign(each.title ?? each.name ?? '')}`, (each) => each.description)}
          ${section('Prompts', prompts, (each) => html`<a href=${addressOf('try', id, each.name, 'prompt')}>${foreign(each.name)}</a>`, (each) => each.description)}
          ${lines?.view() ?? nothing}
        `}
  `;

  const toolList = () => {
    const wanted = filter.toLowerCase();
    const found = wanted ? tools.filter((tool) => tool.found.includes(wanted)) : tools;
    return html`<section aria-labelledby="tools">
      <h2 id="tools">Tools</h2>
      <div class="tools">
        <label>Filter <input type="search" .value=${filter} @input=${(/** @type {any} */ e) => { filter = e.target.value; changed(); }} /></label>
        <span class="hint" role="status">${plural(found.length, 'tool')}${found.length < tools.length ? ` of ${tools.length.toLocaleString('en')}` : ''}</span>
      </div>
      <ul class="list">
        ${found.slice(0, MAX_ROWS).map((tool) => toolRow(id, tool))}
      </ul>
      ${found.length > MAX_ROWS ? html`<p>${plural(found.length - MAX_ROWS, 'more tool')}: use the filter.</p>` : nothing}
    </section>`;
  };
  return {
    title: `Server ${id}`,
    view,
    close: () => {
      unsubscribe();
      lines?.close();
    },
  };
}

/** All entries of a list; what a server does not support is an empty list. @param {string} address @param {string} member */
async function list(address, member) {
  try {
    return (await json(address))[member] ?? [];
  } catch (e) {
    if (e instanceof Problem && e.status === 404) {
      return [];
    }
    throw e;
  }
}

/** @param {any} server */
function description(server) {
  const info = server.server_info ?? {};
  return html`<div class="card">
    ${facts([
      ['State', badge(server.state)],
      ['Since', time(server.since)],
      ['Node', server.nodes?.map((/** @type {any} */ each) => each.node).join(', ') ?? server.node],
      ['Processes', server.pids.join(', ')],
      ['Instances', server.instances > 1 ? String(server.instances) : ''],
      ['Program', [info.title ?? info.name, info.version].filter(Boolean).join(' ')],
      ['Protocol', server.protocol_version ? `${server.protocol_version} (${server.era})` : ''],
      ['Running and queued calls', `${server.pending_calls} and ${server.queued_calls}`],
      ['Restarts', String(server.restarts)],
      ['Risk level of all tools', server.risk_level ? `${server.risk_level} – ${server.risk_description}` : ''],
      ['Last error', server.last_error],
      ['Log in', server.auth_url],
    ])}
    ${server.instructions ? html`<h3>Instructions of the server to models</h3>${long(server.instructions, 600)}` : nothing}
  </div>`;
}

/** @param {string} server @param {any} tool */
function toolRow(server, tool) {
  return html`<li>
    <a class="name" href=${addressOf('try', server, tool.name)}>${foreign(tool.name)}</a>
    <span class="badges">
      ${badge(`risk ${tool.risk_level}`)} ${tool.pin && tool.pin !== 'approved' ? badge(tool.pin) : nothing} ${hints(tool.annotations)}
      <span class="hint" title="An estimate: a quarter of the bytes of the definition">about ${Math.ceil(tool.found.length / 4 + JSON.stringify(tool.inputSchema ?? {}).length / 4).toLocaleString('en')} tokens</span>
    </span>
    ${tool.title && tool.title !== tool.name ? html`<div>${foreign(tool.title)}</div>` : nothing}
    ${tool.description ? long(tool.description, 300) : nothing}
    ${(tool.warnings ?? []).map((/** @type {string} */ warning) => html`<div class="warning">${foreign(warning)}</div>`)}
  </li>`;
}

/** What the server says of a tool; it need not be true. @param {any} annotations */
export function hints(annotations) {
  return [
    annotations?.readOnlyHint === true && 'read only',
    annotations?.destructiveHint === true && 'destructive',
    annotations?.idempotentHint === true && 'idempotent',
    annotations?.openWorldHint === true && 'open world',
  ]
    .filter(Boolean)
    .map((word) => html`${badge(/** @type {string} */ (word))} `);
}

/** @param {string} title @param {any[]} entries @param {(each: any) => unknown} head @param {(each: any) => unknown} text */
function section(title, entries, head, text) {
  return entries.length === 0
    ? nothing
    : html`<section>
        <h2>${title}</h2>
        <ul class="list">
          ${entries.slice(0, MAX_ROWS).map((each) => html`<li>${head(each)}${text(each) ? long(text(each), 300) : nothing}</li>`)}
        </ul>
        ${entries.length > MAX_ROWS ? html`<p>${plural(entries.length - MAX_ROWS, 'more')}</p>` : nothing}
      </section>`;
}
