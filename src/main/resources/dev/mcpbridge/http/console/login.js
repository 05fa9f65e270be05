// @ts-check
import { json, Problem, request, token } from './api.js';
import { failure, foreign, html, nothing, render } from './view.js';

const KEPT = 'mcp-bridge.login';

/**
 * Asks for a key or an access token. It is kept in this tab.
 * @param {unknown} refused why the last one was not accepted
 * @returns {Promise<string>}
 */
export function login(refused) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'login-title');
  return new Promise((resolve) => {
    const enter = async (/** @type {SubmitEvent} */ e) => {
      e.preventDefault();
      const value = /** @type {HTMLInputElement} */ (dialog.querySelector('input')).value.trim();
      if (value) {
        dialog.remove();
        resolve(await session(value));
      }
    };
    dialog.addEventListener('close', () => dialog.isConnected && dialog.showModal());
    const draw = (/** @type {any} */ offered) => render(
      html`<form @submit=${enter}>
        <h2 id="login-title">Log in</h2>
        ${failure(refused)}
        <label>Key or access token <input type="password" name="key" autocomplete="off" required autofocus /></label>
        <p class="hint">It stays in this tab and is forgotten when the tab is closed.</p>
        <div class="actions"><button class="primary">Log in</button></div>
        ${issuer(offered)}
      </form>`,
      dialog,
    );
    draw({});
    json('console/login').then(draw, () => {});
    /** @type {HTMLElement} */ (document.getElementById('dialogs')).append(dialog);
    dialog.showModal();
  });
}

/** A session in place of a key: it ends by itself. Why the key is refused is said by the next request. @param {string} key */
async function session(key) {
  try {
    const response = await request('POST', 'console/session', { headers: { authorization: `Bearer ${key}` } });
    return JSON.parse(await response.text()).token ?? key;
  } catch {
    return key;
  }
}

/** Nothing of the session is left: no token, no stream, no timer, no arguments. */
export async function logOut() {
  const own = token.get();
  token.set('');
  if (own.startsWith('mcbs_')) {
    const authorization = `Bearer ${own}`;
    await request('DELETE', 'console/session', { headers: { authorization }, signal: AbortSignal.timeout(3000) }).catch(() => {});
  }
  location.reload();
}

/** The issuer knows one page only; a page at another address cannot complete the log-in. @param {any} offered */
function issuer({ issuer: name, page }) {
  if (!name) {
    return nothing;
  }
  return page === location.origin + location.pathname && crypto.subtle
    ? html`<p><button type="button" data-testid="issuer" @click=${begin}>Log in at ${foreign(name)}</button></p>`
    : html`<p class="hint">To log in at ${foreign(name)}, open ${foreign(page)}${page.startsWith('https:') ? nothing : ' on the machine of the bridge, or over https'}.</p>`;
}

/** @param {Uint8Array} bytes */
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Leaves for the issuer. What proves that the answer is for this tab stays here (RFC 7636). */
async function begin() {
  const kept = { state: random(), verifier: random(), hash: location.hash };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(kept.verifier));
  location.assign(`console/login?state=${kept.state}&challenge=${base64url(new Uint8Array(digest))}`);
}

/** The token, if the issuer has sent the browser back here; else nothing. @returns {Promise<string>} @throws {Problem} */
export async function loggedIn() {
  const answer = new URLSearchParams(location.search);
  if (!answer.has('state')) {
    return '';
  }
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}');
  sessionStorage.removeItem(KEPT);
  history.replaceState(null, '', location.pathname + (kept.hash ?? ''));
  if (kept.state !== answer.get('state')) {
    throw new Problem(401, { detail: 'This log-in did not begin in this tab' });
  }
  if (!answer.get('code')) {
    throw new Problem(401, { detail: `The issuer has refused: ${answer.get('error_description') ?? answer.get('error') ?? 'no code'}` });
  }
  const body = JSON.stringify({ code: answer.get('code'), verifier: kept.verifier, iss: answer.get('iss') ?? undefined });
  return JSON.parse(await (await request('POST', 'console/login', { body })).text()).token;
}
