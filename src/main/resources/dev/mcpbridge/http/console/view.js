// @ts-check
import { segment } from './api.js';
import { keyed } from './lit/directives/keyed.js';
import { html, nothing, render } from './lit/lit-html.js';
import { beginning, isolated, marked } from './text.js';

/** Markup that several screens use. Foreign texts reach the page through {@link foreign} only. */

export { html, nothing, render };

const MAX_SHOWN = 2000;

/**
 * The address of a screen; nothing, and so no link, if a name cannot be part of one.
 * @param {...unknown} names
 */
export function addressOf(...names) {
  const encoded = names.map((name) => segment(String(name)));
  return encoded.includes(undefined) ? nothing : `#/${encoded.join('/')}`;
}

/**
 * A text of a server, a caller or a model: a text node of its own direction, with marks for what
 * cannot be seen.
 * @param {unknown} text
 */
export function foreign(text) {
  return html`<bdi>${marked(String(text ?? '')).map((part) =>
    part.isMark ? html`<span class="mark" title="A hidden character">${part.text}</span>` : part.text,
  )}</bdi>`;
}

/**
 * A foreign text of any length: its beginning, and the rest when it is opened. Another text is never
 * shown in the place of one that was opened.
 * @param {unknown} text
 * @param {number} shown
 * @param {() => void} opened called when the rest is opened
 */
export function long(text, shown = MAX_SHOWN, opened = () => {}) {
  const whole = String(text ?? '');
  const start = beginning(whole, shown);
  const toggled = (/** @type {Event} */ e) => {
    openWhole(e, whole);
    opened();
  };
  return keyed(
    whole,
    start.length === whole.length
      ? html`<div class="text">${isolated(whole).map(foreign)}</div>`
      : html`<div class="text">${isolated(start).map(foreign)}…</div>
          <details @toggle=${toggled}>
            <summary>${(whole.length - start.length).toLocaleString('en')} more characters</summary>
            <div class="text whole"></div>
          </details>`,
  );
}

/** @param {Event} e @param {string} whole */
function openWhole(e, whole) {
  const details = /** @type {HTMLDetailsElement} */ (e.target);
  render(
    details.open ? html`${isolated(whole).map(foreign)}` : nothing,
    /** @type {HTMLElement} */ (details.querySelector('.whole')),
  );
}

/** How much of a block of code is shown at once. */
export const MAX_CODE = 20_000;

/**
 * A block of code or JSON; it can be reached by the keyboard, to scroll it.
 * @param {string} text
 * @param {string} label
 * @param {() => void} opened called when the rest of a long one is opened
 */
export const code = (text, label, opened = () => {}) =>
  html`<div class="code" dir="ltr" tabindex="0" role="region" aria-label=${label}>${long(text, MAX_CODE, opened)}</div>`;

/** A state in words; the colour only repeats it. @param {string} word */
export const badge = (word) => html`<span class="badge ${tone(word)}">${foreign(word.replaceAll('_', ' '))}</span>`;

/** @param {string} word */
function tone(word) {
  if (['ready', 'approved', 'completed', 'read only', 'member', 'primary'].includes(word)) {
    return 'good';
  }
  if (['failed', 'stopped', 'blocked', 'rejected', 'destructive', 'risk 3', 'tool error'].includes(word)) {
    return 'bad';
  }
  return ['starting', 'degraded', 'changed', 'new', 'pending', 'risk 2', 'expired'].includes(word) ? 'warn' : '';
}

/** A time with its day where it is not today. @param {string | number | null | undefined} at */
export function time(at) {
  if (!at) {
    return '–';
  }
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return html`<time datetime=${date.toISOString()} title=${date.toISOString()}
    >${isToday ? date.toLocaleTimeString() : date.toLocaleString()}</time
  >`;
}

/** @param {number} millis */
export function duration(millis) {
  if (millis < 1000) {
    return `${Math.max(0, Math.round(millis))} ms`;
  }
  const seconds = millis / 1000;
  if (seconds < 120) {
    return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  }
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

/** @param {number} count @param {string} one @param {string} many */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/**
 * What was refused or failed, in the words of the bridge.
 * @param {any} problem
 */
export function failure(problem) {
  if (!problem) {
    return nothing;
  }
  const { code, status, body } = problem;
  const facts = [
    code && `code ${code}`,
    status > 0 && `status ${status}`,
    body?.executed && `executed: ${body.executed}`,
    body?.requestId && `request ${body.requestId}`,
    body?.traceId && `trace ${body.traceId}`,
  ].filter(Boolean);
  return html`<div class="failure" role="alert">
    <div class="text">${long(problem.message)}</div>
    ${facts.length ? html`<div class="facts">${foreign(facts.join(' · '))}</div>` : nothing}
    ${Array.isArray(body?.errors)
      ? html`<ul>
          ${body.errors.slice(0, 50).map(
            (/** @type {any} */ error) =>
              html`<li>${foreign(error.instanceLocation || '/')}: ${foreign(error.error ?? error.message)}</li>`,
          )}
        </ul>`
      : nothing}
  </div>`;
}

/** Facts of an object, by their names. @param {Array<[string, unknown]>} facts */
export const facts = (facts) =>
  html`<dl class="grid">
    ${facts
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? foreign(value) : value}</dd></div>`)}
  </dl>`;

/** Puts a text into the clipboard. @param {string} text @param {Event} e */
export async function copy(text, e) {
  const button = /** @type {HTMLElement} */ (e.currentTarget);
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    say('Copied');
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Copying is not allowed';
  }
  setTimeout(() => (button.textContent = label), 2000);
}

/** Saves a text as a file. @param {string} name @param {string} type @param {string} text */
export function download(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

let lastSaid = 0;
let saying = 0;

/** Tells a screen reader, at most once in two seconds; the newest counts. @param {string} text */
export function say(text) {
  clearTimeout(saying);
  saying = window.setTimeout(() => {
    lastSaid = Date.now();
    /** @type {HTMLElement} */ (document.getElementById('status')).textContent = text;
  }, Math.max(0, 2000 - (Date.now() - lastSaid)));
}

/**
 * Asks before something is done that cannot be undone.
 * @param {string} question
 * @param {string} action
 * @returns {Promise<boolean>}
 */
export function confirmed(question, action) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'question');
  render(
    html`<form method="dialog" @submit=${(/** @type {SubmitEvent} */ e) => closeBy(e, dialog)}>
      <p id="question">${foreign(question)}</p>
      <div class="actions">
        <button value="no" autofocus>Cancel</button>
        <button value="yes" class="danger">${action}</button>
      </div>
    </form>`,
    dialog,
  );
  /** @type {HTMLElement} */ (document.getElementById('dialogs')).append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}

/** The policy of the page forbids forms to be sent, also to a dialog. @param {SubmitEvent} e @param {HTMLDialogElement} dialog */
function closeBy(e, dialog) {
  e.preventDefault();
  dialog.close(/** @type {HTMLButtonElement | null} */ (e.submitter)?.value ?? 'no');
}
