// @ts-check
import { failure, html, render } from './view.js';

/**
 * Asks for a key or an access token. It is kept in this tab.
 * @param {unknown} refused why the last one was not accepted
 * @returns {Promise<string>}
 */
export function login(refused) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'login-title');
  return new Promise((resolve) => {
    const enter = (/** @type {SubmitEvent} */ e) => {
      e.preventDefault();
      const value = /** @type {HTMLInputElement} */ (dialog.querySelector('input')).value.trim();
      if (value) {
        dialog.remove();
        resolve(value);
      }
    };
    dialog.addEventListener('close', () => dialog.isConnected && dialog.showModal());
    render(
      html`<form @submit=${enter}>
        <h2 id="login-title">Log in</h2>
        ${failure(refused)}
        <label>Key or access token <input type="password" name="key" autocomplete="off" required autofocus /></label>
        <p class="hint">It stays in this tab and is forgotten when the tab is closed.</p>
        <div class="actions"><button class="primary">Log in</button></div>
      </form>`,
      dialog,
    );
    /** @type {HTMLElement} */ (document.getElementById('dialogs')).append(dialog);
    dialog.showModal();
  });
}
