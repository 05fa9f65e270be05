// @ts-check
import { events, json, path, Problem, request, text, token } from './api.js';
import { approval } from './approval.js';
import { Draft, Misfit } from './draft.js';
import { form } from './form.js';
import { elements, member, members, pretty } from './json.js';
import { result } from './result.js';
import { hasForm } from './schema.js';
import { hints } from './server.js';
import { store } from './store.js';
import { marked } from './text.js';
import { addressOf, badge, code, copy, duration, failure, foreign, html, long, nothing } from './view.js';

const MAX_HISTORY = 10;

/** The last arguments of each tool in this tab. @type {Map<string, string[]>} */
const history = new Map();

/** Calls a tool or gets a prompt. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ parameters: [server, name, kind], query, changed }) {
  return name === undefined ? chooser(server, changed) : tool({ server, name, isPrompt: kind === 'prompt' }, query, changed);
}

/** Searches the tools of all servers, or of one. @param {string | undefined} server @param {() => void} changed */
function chooser(server, changed) {
  let tools = /** @type {any[] | null} */ (null);
  /** @type {unknown} */
  let problem = null;
  let filter = '';
  json(server ? path`servers/${server}/tools` : 'tools').then(
    (listed) => {
      tools = listed.tools.map((/** @type {any} */ each) => ({ server_id: server, ...each }));
      changed();
    },
    (e) => {
      problem = e;
      changed();
    },
  );
  const view = () => {
    const wanted = filter.toLowerCase();
    const found = (tools ?? []).filter((each) => `${each.server_id} ${each.name}`.toLowerCase().includes(wanted));
    return html`${failure(problem)}
      <div class="tools"><label>Tool <input type="search" .value=${filter} @input=${(/** @type {any} */ e) => { filter = e.target.value; changed(); }} /></label></div>
      <ul class="list">${found.slice(0, 500).map((each) => html`<li><a class="name" href=${addressOf('try', each.server_id, each.name)}>${foreign(each.server_id)} · ${foreign(each.name)}</a> ${badge(`risk ${each.risk_level}`)}${each.description ? long(each.description, 160) : nothing}</li>`)}</ul>
      ${found.length > 500 ? html`<p>${found.length - 500} more: use the filter.</p>` : nothing}
      ${tools?.length === 0 ? html`<p>No tool is offered at present.</p>` : nothing}`;
  };
  return { title: 'Try a tool', view };
}

/** @typedef {{server: string, name: string, isPrompt: boolean}} Target */

/** @param {Target} target @param {URLSearchParams} query @param {() => void} changed */
function tool(target, query, changed) {
  const { server, name, isPrompt } = target;
  const key = `${server}\n${name}`;
  let definition = /** @type {any} */ (null);
  /** @type {Draft | null} */
  let draft = null;
  let written = '{}';
  let isForm = true;
  let misfit = '';
  /** @type {unknown} */
  let problem = null;
  /** @type {Map<string, string>} */
  let problems = new Map();
  let call = /** @type {any} */ (null);

  const load = async () => {
    try {
      const listed = await text(path`servers/${server}/${isPrompt ? 'prompts' : 'tools'}`);
      const found = elements(member(listed, isPrompt ? 'prompts' : 'tools') ?? '[]').find((each) => JSON.parse(member(each, 'name') ?? 'null') === name);
      if (!found) {
        throw new Problem(404, { detail: `The server "${server}" does not offer "${name}" to you at present` });
      }
      definition = JSON.parse(found);
      const schema = isPrompt ? promptSchema(definition) : definition.inputSchema;
      const hasOne = hasForm(schema, member(found, 'inputSchema') ?? '');
      draft = hasOne ? new Draft(schema, schema, { isRequired: true }) : null;
      isForm = hasOne;
      const given = query.get('arguments');
      if (given !== null) {
        written = given;
        isForm = false;
      } else {
        written = draft?.json() ?? '{}';
      }
    } catch (e) {
      problem = e;
    }
    changed();
  };

  /** The text is the truth; the form shows it where it can. @param {string} arguments_ */
  const take = (arguments_) => {
    written = arguments_;
    misfit = '';
    isForm = false;
    try {
      JSON.parse(arguments_);
      if (draft === null) {
        return;
      }
      const schema = isPrompt ? promptSchema(definition) : definition.inputSchema;
      const filled = new Draft(schema, schema, { isRequired: true });
      filled.fill(arguments_.trim());
      draft = filled;
      isForm = true;
    } catch (e) {
      misfit = e instanceof Misfit ? e.message : `The text is not JSON: ${/** @type {Error} */ (e).message}`;
    }
    changed();
  };

  const entered = () => {
    written = draft?.json() ?? '{}';
    problems = new Map();
    changed();
  };

  const run = async (/** @type {Event} */ e) => {
    e.preventDefault();
    if (call?.ended === 0 || /** @type {KeyboardEvent} */ (e).repeat) {
      return;
    }
    if (isForm && draft) {
      problems = new Map(draft.problems().map((each) => [each.path, each.problem]));
    } else {
      problems = new Map(isJson(written) ? [] : [['', 'The text is not JSON']]);
    }
    if (problems.size > 0) {
      changed();
      await new Promise(requestAnimationFrame);
      /** @type {HTMLElement | null} */ (document.querySelector('[aria-invalid=true]'))?.focus();
      return;
    }
    history.set(key, [written, ...(history.get(key) ?? []).filter((each) => each !== written)].slice(0, MAX_HISTORY));
    await start();
  };

  const start = async () => {
    const own = { abort: new AbortController(), started: Date.now(), ended: 0, progress: /** @type {any} */ (null), messages: /** @type {string[]} */ ([]), result: '', held: /** @type {any} */ (null), problem: /** @type {unknown} */ (null), isCancelled: false };
    call = own;
    changed();
    try {
      const address = isPrompt ? path`servers/${server}/prompts/${name}` : path`servers/${server}/tools/${name}`;
      const response = await request('POST', address, { body: written, headers: { accept: isPrompt ? 'application/json' : 'text/event-stream' }, signal: own.abort.signal });
      if (isPrompt) {
        own.result = await response.text();
      } else {
        for await (const event of events(response)) {
          received(own, event);
          changed();
        }
        if (!own.result && !own.held && !own.problem) {
          throw new Problem(0, { detail: 'The connection has ended without an outcome' });
        }
      }
    } catch (e) {
      own.problem = own.isCancelled ? null : e;
    }
    own.ended = Date.now();
    changed();
  };

  /** @param {any} own @param {{event: string, data: string}} event */
  const received = (own, event) => {
    if (event.event === 'result') {
      own.result = event.data;
    } else if (event.event === 'confirmation') {
      const caller = JSON.stringify(store.me?.principal ?? '');
      own.held = approval(`${event.data.trim().slice(0, -1)},"caller":${caller}}`, { changed });
    } else if (event.event === 'error') {
      const body = JSON.parse(event.data);
      own.problem = new Problem(body.status, body);
      (body.errors ?? []).forEach((/** @type {any} */ each) => problems.set(each.instanceLocation ?? '', each.error ?? each.message));
    } else if (event.event === 'progress') {
      own.progress = JSON.parse(event.data);
    } else {
      own.messages.push(event.data);
      own.messages.splice(0, own.messages.length - 100);
    }
  };

  const cancel = () => {
    call.isCancelled = true;
    call.abort.abort();
    changed();
  };

  load();
  const view = () => html`
    <p class="crumbs"><a href=${addressOf('servers', server)}>${foreign(server)}</a> / ${foreign(name)}</p>
    ${failure(problem)}
    ${definition === null ? (problem ? nothing : html`<p>Loading…</p>`) : html`${about(definition)} ${inputs()} ${call ? outcome(call, cancel) : nothing}`}
  `;

  const inputs = () => html`<form class="card" novalidate @submit=${run} @keydown=${(/** @type {KeyboardEvent} */ e) => e.key === 'Enter' && e.ctrlKey && run(e)}>
    <div class="tools" role="group" aria-label="How to enter the arguments">
      <button type="button" aria-pressed=${isForm ? 'true' : 'false'} ?disabled=${draft === null} @click=${() => take(written)}>Form</button>
      <button type="button" aria-pressed=${isForm ? 'false' : 'true'} @click=${() => { isForm = false; written = isJson(written) ? pretty(written) : written; changed(); }}>JSON</button>
      ${draft === null ? html`<span class="hint">The schema is too large for a form.</span>` : nothing}
    </div>
    ${misfit ? html`<p class="failure" role="alert">The form cannot show this: ${foreign(misfit)}</p>` : nothing}
    ${problems.size > 0 ? html`<div class="failure" role="alert">${[...problems].map(([at, what]) => html`<div>${foreign(at || 'The arguments')} ${foreign(what)}</div>`)}</div>` : nothing}
    ${isForm && draft
      ? form(draft, entered, problems)
      : html`<label for="arguments">Arguments as JSON</label>
          <textarea id="arguments" class="json" rows="12" spellcheck="false" aria-invalid=${problems.has('') ? 'true' : 'false'} .value=${written} @input=${(/** @type {any} */ e) => { written = e.target.value; problems = new Map(); changed(); }}></textarea>`}
    ${marked(written).some((part) => part.isMark)
      ? html`<div role="status"><strong class="problem">There are characters that cannot be seen:</strong> ${code(written, 'Arguments with marks')}</div>`
      : nothing}
    <div class="actions">
      <button class="primary" data-testid="run" ?disabled=${call !== null && call.ended === 0}>${definition.risk_level > 1 ? 'Request' : 'Run'}</button>
      <button type="button" @click=${(/** @type {Event} */ e) => copy(curl(target, written), e)}>Copy as curl</button>
      <button type="button" @click=${(/** @type {Event} */ e) => copy(link(target, written), e)}>Copy a link to this call</button>
    </div>
    ${(history.get(key) ?? []).length > 0
      ? html`<details><summary>Earlier calls in this tab</summary>
          <ul class="list">${history.get(key)?.map((each) => html`<li><button type="button" @click=${() => take(each)}>Use</button> <code>${foreign(each.slice(0, 200))}</code></li>`)}</ul></details>`
      : nothing}
  </form>`;
  return { title: isPrompt ? `Prompt ${name}` : `Tool ${name}`, view, close: () => call && call.ended === 0 && cancel() };
}

/** @param {any} definition */
function about(definition) {
  return html`<div>
    ${definition.risk_level ? badge(`risk ${definition.risk_level}`) : nothing} ${hints(definition.annotations)} ${definition.pin && definition.pin !== 'approved' ? badge(definition.pin) : nothing}
    ${definition.description ? html`<div class="quoted"><span class="hint">In the words of the server</span>${long(definition.description, 1000)}</div>` : nothing}
  </div>`;
}

/** @param {any} call @param {() => void} cancel */
function outcome(call, cancel) {
  const { progress } = call;
  return html`<section class="card" aria-labelledby="outcome">
    <h2 id="outcome">Outcome</h2>
    ${call.ended === 0
      ? html`<p role="status">Running…</p>
          ${progress ? html`<progress aria-label="Progress" .value=${progress.progress ?? 0} max=${progress.total ?? 100}></progress> ${foreign(progress.message ?? `${progress.progress}${progress.total ? ` of ${progress.total}` : ''}`)}` : nothing}
          <button data-testid="cancel" @click=${cancel}>Cancel</button>`
      : html`<p role="status">${call.isCancelled ? 'Cancelled. The server was told; it may have done a part.' : `${call.held ? 'Held' : call.problem ? 'Failed' : 'Completed'} after ${duration(call.ended - call.started)}${call.result ? `, ${new Blob([call.result]).size.toLocaleString('en')} bytes` : ''}`}</p>`}
    ${failure(call.problem)} ${call.held ? call.held.view() : nothing} ${call.result ? result(call.result) : nothing}
    ${call.messages.length > 0 ? html`<details><summary>Messages of the server</summary>${call.messages.map((/** @type {string} */ each) => html`<div class="text">${foreign(each)}</div>`)}</details>` : nothing}
  </section>`;
}

/** The arguments of a prompt are texts. @param {any} prompt */
function promptSchema(prompt) {
  const parts = prompt.arguments ?? [];
  return {
    type: 'object',
    properties: Object.fromEntries(parts.map((/** @type {any} */ each) => [each.name, { type: 'string', title: each.title, description: each.description }])),
    required: parts.filter((/** @type {any} */ each) => each.required === true).map((/** @type {any} */ each) => each.name),
  };
}

/** @param {string} text_ */
function isJson(text_) {
  try {
    return text_.trim().startsWith('{') && members(text_) !== null && JSON.parse(text_) !== null;
  } catch {
    return false;
  }
}

/** A link that fills the fields. @param {Target} target @param {string} body */
function link({ server, name, isPrompt }, body) {
  const screen = String(addressOf('try', server, name, ...(isPrompt ? ['prompt'] : [])));
  return `${location.href.split('#', 1)[0]}${screen}?${new URLSearchParams([['arguments', body]])}`;
}

/** @param {Target} target @param {string} body */
function curl({ server, name, isPrompt }, body) {
  const quoted = (/** @type {string} */ word) => `'${word.replaceAll("'", `'\\''`)}'`;
  const url = new URL(isPrompt ? path`servers/${server}/prompts/${name}` : path`servers/${server}/tools/${name}`, location.href);
  const key = token.get() ? ' -H "Authorization: Bearer $KEY"' : '';
  return `curl -s ${quoted(url.href)}${key} -H 'content-type: application/json' --data-raw ${quoted(body)}`;
}
