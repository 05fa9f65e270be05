// @ts-check
import { events, json, Problem, request, text } from './api.js';
import { elements, member } from './json.js';

/**
 * What all screens share: who looks, the servers and the pending confirmations. They are read again
 * when an event tells of a change, at most twice a second, and when the page is shown again.
 */

const MIN_GAP = 500;
const HIDDEN_MILLIS = 60_000;
const RETRY_MILLIS = 3_000;

/** @typedef {{principal: string, roles: string[], scopes: string[], node?: string, version?: string, agent?: {model: string, questions: string[]}}} Me */

export const store = {
  /** @type {Me | null} */
  me: null,
  /** @type {any[] | null} null until they are known */
  servers: null,
  /** The pending ones, each with its bytes as `held`. @type {any[]} */
  confirmations: [],
  isLive: false,
  /** @type {unknown} why the servers could not be read */
  problem: null,
};

/** @type {Set<(event: string, data: any) => void>} */
const listeners = new Set();

/**
 * Tells of each event, and with the name `store` of changes of the store.
 * @param {(event: string, data: any) => void} listener
 * @returns {() => void} ends it
 */
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {string} event @param {any} data */
function tell(event, data) {
  listeners.forEach((listener) => listener(event, data));
}

/** Whether the person may use what needs a scope. @param {string} scope */
export const may = (scope) => store.me?.scopes.includes(scope) ?? false;

/**
 * Reads something now, or soon after the last time.
 * @param {() => Promise<void>} read
 */
function throttled(read) {
  let last = 0;
  let timer = 0;
  let running = false;
  const run = async () => {
    if (running) {
      timer = window.setTimeout(run, MIN_GAP);
      return;
    }
    timer = 0;
    running = true;
    last = Date.now();
    try {
      await read();
      store.problem = null;
    } catch (e) {
      store.problem = e;
    }
    running = false;
    tell('store', null);
  };
  return () => {
    if (timer === 0) {
      timer = window.setTimeout(run, Math.max(0, last + MIN_GAP - Date.now()));
    }
  };
}

export const readServers = throttled(async () => {
  store.servers = (await json('servers')).servers;
});

export const readConfirmations = throttled(async () => {
  const held = may('call') ? elements(member(await text('confirmations'), 'confirmations') ?? '[]') : [];
  store.confirmations = held.map((each) => ({ ...JSON.parse(each), held: each }));
});

/** @type {AbortController | null} */
let stream = null;
let hidden = 0;

/** Reads who looks, and listens. @throws {Problem} 401 without a key that the bridge accepts */
export async function open() {
  store.me = await json('whoami');
  readServers();
  readConfirmations();
  if (!document.hidden) {
    listen();
  }
}

/** Forgets everything, such as at the end of a session. */
export function forget() {
  stream?.abort();
  stream = null;
  store.me = null;
  store.servers = null;
  store.confirmations = [];
}

/** Receives events until the page is hidden for a while. */
async function listen() {
  stream?.abort();
  const own = new AbortController();
  stream = own;
  while (!own.signal.aborted) {
    try {
      const response = await request('GET', 'events', {
        headers: { accept: 'text/event-stream' },
        signal: own.signal,
      });
      connected(true);
      readServers();
      readConfirmations();
      for await (const event of events(response)) {
        received(event.event, JSON.parse(event.data));
      }
    } catch (e) {
      if (e instanceof Problem && e.status === 401) {
        tell('login', null);
        return;
      }
    }
    if (stream === own) {
      connected(false);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
  }
}

/** @param {boolean} isLive */
function connected(isLive) {
  store.isLive = isLive;
  tell('store', null);
}

/** @param {string} event @param {any} data */
function received(event, data) {
  if (event === 'server' || event === 'catalogue') {
    readServers();
  } else if (event === 'confirmation') {
    readConfirmations();
  }
  tell(event, data);
}

document.addEventListener('visibilitychange', () => {
  clearTimeout(hidden);
  if (document.hidden) {
    hidden = window.setTimeout(() => {
      stream?.abort();
      stream = null;
      connected(false);
    }, HIDDEN_MILLIS);
  } else if (stream === null && store.me !== null) {
    listen();
  }
});
