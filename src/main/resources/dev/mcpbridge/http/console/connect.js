// @ts-check
import { token } from './api.js';
import { store } from './store.js';
import { code, copy, foreign, html } from './view.js';

/**
 * What to write into the configuration of the usual MCP clients. A key is never shown: it is a
 * placeholder.
 * @param {import('./main.js').Place} place @returns {import('./main.js').Screen}
 */
export function open({ changed }) {
  let server = '';
  const view = () => html`
    <p>These clients reach all servers of this bridge, or one of them, with the rights of their key.</p>
    <div class="tools">
      <label>What is offered
        <select @change=${(/** @type {any} */ e) => { server = e.target.value; changed(); }}>
          <option value="">all servers</option>
          ${(store.servers ?? []).map((each) => html`<option value=${each.id} ?selected=${each.id === server}>${each.id}</option>`)}
        </select>
      </label>
    </div>
    ${token.get() ? html`<p>Put a key of its own for each client in the place of <code>YOUR_KEY</code>; <code>mcp-bridge key</code> makes one.</p>` : ''}
    ${snippets(server).map(
      (snippet) => html`<section class="card">
        <h2>${snippet.client}</h2>
        <p class="hint">${foreign(snippet.where)}</p>
        ${code(snippet.text, `For ${snippet.client}`)}
        <div class="actions"><button @click=${(/** @type {Event} */ e) => copy(snippet.text, e)} aria-label=${`Copy what ${snippet.client} needs`}>Copy</button></div>
      </section>`,
    )}
  `;
  return { title: 'Connect a client', view };
}

/** @param {string} server */
function snippets(server) {
  const base = location.href.split('#', 1)[0].replace(/\/console$/, '');
  const url = `${base}${server ? `/servers/${encodeURIComponent(server)}` : ''}/mcp`;
  const name = server || 'mcp-bridge';
  const key = token.get() ? 'YOUR_KEY' : '';
  const headers = key ? { headers: { Authorization: `Bearer ${key}` } } : {};
  const json = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2);
  const shell = (/** @type {string} */ word) => (/^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return [
    { client: 'Any client with Streamable HTTP', where: `URL${key ? ', and the header Authorization' : ''}`, text: key ? `${url}\nAuthorization: Bearer ${key}` : url },
    { client: 'Claude Code', where: 'In a terminal', text: `claude mcp add --transport http ${shell(name)} ${shell(url)}${key ? ` --header "Authorization: Bearer ${key}"` : ''}` },
    {
      client: 'Claude Desktop and other clients that start programs',
      where: 'claude_desktop_config.json',
      text: json({
        mcpServers: {
          [name]: {
            command: 'mcp-bridge',
            args: ['stdio', '--url', base, ...(server ? ['--server', server] : [])],
            ...(key ? { env: { MCP_BRIDGE_KEY: key } } : {}),
          },
        },
      }),
    },
    { client: 'Cursor', where: '~/.cursor/mcp.json', text: json({ mcpServers: { [name]: { url, ...headers } } }) },
    { client: 'VS Code', where: '.vscode/mcp.json', text: json({ servers: { [name]: { type: 'http', url, ...headers } } }) },
    { client: 'Windsurf', where: '~/.codeium/windsurf/mcp_config.json', text: json({ mcpServers: { [name]: { serverUrl: url, ...headers } } }) },
    { client: 'Gemini CLI', where: '~/.gemini/settings.json', text: json({ mcpServers: { [name]: { httpUrl: url, ...headers } } }) },
    { client: 'Zed', where: 'settings.json', text: json({ context_servers: { [name]: { url, ...headers } } }) },
    {
      client: 'Codex CLI',
      where: key ? '~/.codex/config.toml; the key is read from the environment' : '~/.codex/config.toml',
      text: `[mcp_servers.${JSON.stringify(name)}]\nurl = ${JSON.stringify(url)}${key ? '\nbearer_token_env_var = "MCP_BRIDGE_KEY"' : ''}`,
    },
  ];
}
