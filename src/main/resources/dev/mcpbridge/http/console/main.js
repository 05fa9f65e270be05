// @ts-check
import { Problem, token } from './api.js';
import { loggedIn, login, logOut } from './login.js';
import { forget, may, open, store, subscribe } from './store.js';
import { plain } from './text.js';
import { failure, foreign, html, nothing, render, say } from './view.js';

/**
 * The frame of the page: its navigation, and the screen that the address names. A screen is a module
 * with a function `open`; it is drawn at most once per frame.
 *
 * @typedef {{
 *   parameters: string[],
 *   query: URLSearchParams,
 *   changed: () => void,
 * }} Place
 * @typedef {{title: string, view: () => unknown, close?: () => void}} Screen
 */

/** @type {Array<[name: string, label: string, scope: string]>} */
const SCREENS = [
  ['servers', 'Servers', 'read'],
  ['try', 'Try', 'call'],
  ['chat', 'Chat', 'call'],
  ['approvals', 'Approvals', 'call'],
  ['live', 'Live', 'read'],
  ['pins', 'Pins', 'approve'],
  ['audit', 'Audit', 'audit'],
  ['cluster', 'Cluster', 'read'],
  ['connect', 'Connect', 'read'],
];

/** @type {Record<string, () => Promise<{open: (place: Place) => Screen}>>} */
const MODULES = {
  servers: () => import('./servers.js'),
  server: () => import('./server.js'),
  try: () => import('./try.js'),
  chat: () => import('./chat.js'),
  approvals: () => import('./approvals.js'),
  live: () => import('./live.js'),
  pins: () => import('./pins.js'),
  audit: () => import('./audit.js'),
  cluster: () => import('./cluster.js'),
  connect: () => import('./connect.js'),
};

const header = /** @type {HTMLElement} */ (document.getElementById('header'));
const content = /** @type {HTMLElement} */ (document.getElementById('content'));

let name = '';
/** @type {Screen | null} */
let screen = null;
/** @type {unknown} */
let problem = null;
let frame = 0;
let places = 0;

/** Draws soon; many changes are drawn once. */
function changed() {
  frame ||= requestAnimationFrame(draw);
}

/** A screen that cannot be drawn is replaced by its failure; what it had drawn is not kept. */
function draw() {
  frame = 0;
  try {
    drawScreen();
  } catch (e) {
    console.warn(e);
    render(html`<h1 tabindex="-1">This cannot be shown</h1>${failure(e)}`, content);
  }
}

function drawScreen() {
  render(navigation(), header);
  render(
    problem
      ? html`<h1 tabindex="-1">The bridge</h1>
          ${failure(problem)}<button @click=${start}>Try again</button>`
      : screen
        ? html`<h1 tabindex="-1">${foreign(screen.title)}</h1>
            ${screen.view()}`
        : html`<p>Loading…</p>`,
    content,
  );
  const waiting = store.confirmations.length;
  document.title = `${waiting ? `(${waiting}) ` : ''}${screen ? `${plain(screen.title)} – ` : ''}MCP Bridge`;
}

function navigation() {
  return html`<div class="bar">
    <a class="brand" href="#/servers">MCP Bridge</a>
    <nav aria-label="Screens">
      ${store.me
        ? SCREENS.filter(([screenName, , scope]) => may(scope) && (screenName !== 'chat' || store.me?.agent)).map(
            ([screenName, label]) =>
              html`<a
                href="#/${screenName}"
                aria-current=${name === screenName || (name === 'server' && screenName === 'servers') ? 'page' : 'false'}
                >${label}${screenName === 'approvals' && store.confirmations.length
                  ? html` <span class="count">${store.confirmations.length}<span class="hidden"> pending</span></span>`
                  : nothing}</a
              >`,
          )
        : nothing}
    </nav>
    <div class="who">
      <span class="badge ${store.isLive ? 'good' : 'warn'}">${store.isLive ? 'live' : 'not live'}</span>
      ${store.me
        ? html`<span class="principal" title=${`Scopes: ${store.me.scopes.join(', ')}`}><bdi>${store.me.principal}</bdi></span>`
        : nothing}
      ${token.get() ? html`<button class="quiet" @click=${logOut}>Log out</button>` : nothing}
      <label class="theme"
        ><span class="hidden">Colours</span
        ><select @change=${chooseTheme}>
          ${['auto', 'light', 'dark'].map(
            (each) => html`<option value=${each} ?selected=${theme() === each}>${each}</option>`,
          )}
        </select></label
      >
    </div>
  </div>`;
}

const theme = () => localStorage.getItem('mcp-bridge.theme') ?? 'auto';

/** @param {Event} e */
function chooseTheme(e) {
  localStorage.setItem('mcp-bridge.theme', /** @type {HTMLSelectElement} */ (e.target).value);
  applyTheme();
}

function applyTheme() {
  document.documentElement.className = theme() === 'auto' ? '' : theme();
}

/** Opens the screen that the address names. */
async function go() {
  const place = ++places;
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [first, ...rest] = path.split('/').map(decoded);
  screen?.close?.();
  screen = null;
  problem = null;
  name = first === 'servers' && rest.length > 0 ? 'server' : Object.hasOwn(MODULES, first) ? first : 'servers';
  const module = await MODULES[name]();
  if (place === places) {
    screen = module.open({ parameters: rest, query: new URLSearchParams(query), changed });
    draw();
    content.querySelector('h1')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A module could not be loaded, such as after the end of the bridge. @param {unknown} e */
function failed(e) {
  problem = e;
  changed();
}

let isAsking = false;

/** Asks for a key if the bridge needs another one. */
async function start() {
  problem = null;
  try {
    token.set((await loggedIn()) || token.get());
    await open();
    await go();
  } catch (e) {
    if (e instanceof Problem && (e.status === 401 || e.status === 403)) {
      await ask(e);
    } else {
      problem = e;
    }
  }
  changed();
}

/** @param {Problem | null} refused */
async function ask(refused) {
  if (isAsking) {
    return;
  }
  isAsking = true;
  forget();
  screen = null;
  changed();
  token.set(await login(token.get() || refused?.status !== 401 || !refused.code ? refused : null));
  isAsking = false;
  await start();
}

/** Only the count: arguments are for those who look at the page. @param {number} waiting */
function announce(waiting) {
  if (document.hidden && 'Notification' in window && Notification.permission === 'granted') {
    new Notification('MCP Bridge', { body: `${waiting} calls wait for an approval`, tag: 'approvals' });
  }
}

let known = 0;
subscribe((event) => {
  if (event === 'login') {
    location.reload();
  }
  const waiting = store.confirmations.length;
  if (waiting > known) {
    say(`${waiting} calls wait for an approval`);
    announce(waiting);
  }
  known = waiting;
  changed();
});

document.getElementById('skip')?.addEventListener('click', (e) => {
  e.preventDefault();
  content.focus();
});
window.addEventListener('hashchange', () => store.me && go().catch(failed));
applyTheme();
draw();
start();
