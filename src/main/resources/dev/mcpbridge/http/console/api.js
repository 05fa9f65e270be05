// @ts-check
/** Requests to the bridge. The token is kept in this tab only, and never in a cookie or an address. */

const TOKEN = 'mcp-bridge.token';
const MAX_EVENT = 4 * 1024 * 1024;

/** A page that is left closes its connections: a browser has six for all pages of a host. */
const leaving = new AbortController();
globalThis.addEventListener?.('pagehide', () => leaving.abort());
globalThis.addEventListener?.('pageshow', (e) => /** @type {PageTransitionEvent} */ (e).persisted && location.reload());

/** A refused or failed request, with the words of the bridge. */
export class Problem extends Error {
  /**
   * @param {number} status 0 if the bridge was not reached
   * @param {any} body the problem document, or what else was answered
   */
  constructor(status, body) {
    super(typeof body?.detail === 'string' ? body.detail : `The bridge answered with status ${status}`);
    this.status = status;
    this.body = body;
    this.code = typeof body?.code === 'string' ? body.code : '';
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? '',
  /** @param {string} value */
  set: (value) => (value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN)),
};

/**
 * @typedef {{body?: string, headers?: Record<string, string>, signal?: AbortSignal}} Options
 */

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 * @throws {Problem}
 */
export async function request(method, path, { body, headers, signal } = {}) {
  const response = await reach(path, {
    method,
    body,
    signal: signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal,
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token.get() ? { authorization: `Bearer ${token.get()}` } : {}),
      ...headers,
    },
  });
  if (!response.ok) {
    throw new Problem(response.status, parsed(await response.text()));
  }
  return response;
}

/** @param {string} path @param {RequestInit} init */
async function reach(path, init) {
  try {
    return await fetch(path, init);
  } catch (e) {
    if (init.signal?.aborted) {
      throw e;
    }
    throw new Problem(0, { detail: 'The bridge does not answer' });
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text.slice(0, 1000) };
  }
}

/** @param {string} path @param {Options} options */
export const text = async (path, options = {}) => (await request('GET', path, options)).text();

/** @param {string} path @param {Options} options */
export const json = async (path, options = {}) => JSON.parse(await text(path, options));

/**
 * The events of a response (WHATWG HTML, section 9.2.6). EventSource cannot send a credential.
 * @param {Response} response
 * @returns {AsyncGenerator<{id: string, event: string, data: string}>}
 */
export async function* events(response) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event = { id: '', event: 'message', data: /** @type {string[]} */ ([]) };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      rest += decoder.decode(value, { stream: true });
      if (rest.length > MAX_EVENT) {
        throw new Problem(0, { detail: 'An event is too large' });
      }
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = /** @type {string} */ (lines.pop());
      for (const line of lines) {
        if (line === '') {
          if (event.data.length > 0) {
            yield { ...event, data: event.data.join('\n') };
          }
          event = { id: event.id, event: 'message', data: [] };
        } else if (!line.startsWith(':')) {
          take(event, line);
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {{id: string, event: string, data: string[]}} event @param {string} line */
function take(event, line) {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
  if (name === 'data') {
    event.data.push(value);
  } else if (name === 'id' || name === 'event') {
    event[name] = value;
  }
}

/**
 * A path relative to the page; the values are encoded. A segment of dots cannot be addressed, since
 * every URL parser removes it.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export function path(strings, ...values) {
  return String.raw(
    { raw: strings },
    ...values.map((value) => {
      const encoded = segment(String(value));
      if (encoded === undefined) {
        throw new Problem(0, { detail: `The name "${value}" cannot be part of an address` });
      }
      return encoded;
    }),
  );
}

/** @param {string} name @returns {string | undefined} undefined if it cannot be part of an address */
export function segment(name) {
  return /^\.{0,2}$/.test(name) || /\p{Cs}/u.test(name) ? undefined : encodeURIComponent(name);
}
