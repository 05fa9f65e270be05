// @ts-check
import { json } from './api.js';
import { store, subscribe } from './store.js';
import { addressOf, badge, facts, failure, foreign, html, nothing } from './view.js';

/** The nodes, and which server is where. @param {import('./main.js').Place} place @returns {import('./main.js').Screen} */
export function open({ changed }) {
  let cluster = /** @type {any} */ (null);
  /** @type {unknown} */
  let problem = null;
  const read = async () => {
    try {
      cluster = await json('cluster');
      problem = null;
    } catch (e) {
      problem = e;
    }
    changed();
  };
  const timer = setInterval(() => !document.hidden && read(), 2000);
  const unsubscribe = subscribe((event) => event === 'server' && read());
  read();
  const view = () => html`${failure(problem)} ${cluster === null ? nothing : cluster.state === 'alone' ? html`<p>This bridge is not part of a cluster.</p>` : html`${overview(cluster)} ${owners()}`}`;
  return {
    title: 'Cluster',
    view,
    close: () => {
      clearInterval(timer);
      unsubscribe();
    },
  };
}

/** @param {any} cluster */
function overview(cluster) {
  return html`${facts([
      ['State of this node', badge(cluster.state)],
      ['This node', cluster.node],
      ['Primary', cluster.primary],
      ['Term', String(cluster.view)],
      ['Moves of servers', String(cluster.moves)],
    ])}
    <table class="cards">
      <caption>Nodes</caption>
      <thead><tr>${['Node', 'Address', 'URL', 'Version', 'Role', 'State'].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>
        ${cluster.members.map(
          (/** @type {any} */ node) => html`<tr data-testid="node-${node.name}">
            <th scope="row">${foreign(node.name)}${node.name === cluster.node ? ' (this one)' : nothing}</th>
            <td data-label="Address">${foreign(node.address)}</td>
            <td data-label="URL">${foreign(node.url)}</td>
            <td data-label="Version">${foreign(node.version)}</td>
            <td data-label="Role">${node.voter ? 'decides' : 'follows'}${node.name === cluster.primary ? ', primary' : ''}</td>
            <td data-label="State">${badge(node.leaving ? 'leaving' : 'member')}</td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}

function owners() {
  const rows = (store.servers ?? []).flatMap((server) =>
    (server.nodes ?? [{ instance: 1, node: server.node, epoch: server.epoch }]).map((/** @type {any} */ place) => ({ server, ...place })),
  );
  return html`<table class="cards">
    <caption>Owners</caption>
    <thead><tr>${['Server', 'Instance', 'Node', 'Epoch', 'State'].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
    <tbody>
      ${rows.slice(0, 500).map(
        (row) => html`<tr>
          <th scope="row"><a href=${addressOf('servers', row.server.id)}>${foreign(row.server.id)}</a></th>
          <td data-label="Instance">${row.instance}</td>
          <td data-label="Node">${foreign(row.node ?? 'none')}</td>
          <td data-label="Epoch">${row.epoch ?? '–'}</td>
          <td data-label="State">${badge(row.server.state)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
