// @ts-check
import { events, path, Problem, request } from './api.js';
import { approval } from './approval.js';
import { elements, member } from './json.js';
import { EXECUTED, failed, failureOf, MAX_EXACT, ofResult, REFUSED, sent, STOPPED, UNKNOWN } from './responses.js';
import { store } from './store.js';
import { say } from './view.js';

/**
 * The conversation of this tab with the model of the operator. The loop is here: the bridge gives one
 * turn of the model at a time, and the calls are made with the rights of this page.
 */

/** A question that needs more requests to the model is answered with what was found so far. */
const MAX_STEPS = 25;

const PAUSE_MILLIS = 300;
const RETRY_MILLIS = 3000;

/**
 * A call of the model, and what became of it.
 * @typedef {{
 *   json: string,
 *   number: number,
 *   name: string,
 *   arguments: string,
 *   response: string,
 *   isSendable: boolean,
 *   held: ReturnType<typeof approval> | null,
 *   settle: ((response: string) => void) | null,
 * }} Call
 * @typedef {{user?: string, text: string, calls: Call[], note: string}} Part
 */

/** The conversation of this tab. The JSON of its messages is sent as it was received. */
export const talk = {
  id: '',
  messages: /** @type {string[]} */ ([]),
  parts: /** @type {Part[]} */ ([]),
  /** What the model has not got yet. */
  question: '',
  open: /** @type {Call[]} */ ([]),
  principal: '',
  asked: 0,
  draft: '',
  problem: /** @type {unknown} */ (null),
  abort: /** @type {AbortController | null} */ (null),
};

let made = 0;

/** Called when the conversation has changed. */
let redraw = () => {};

/** @param {() => void} changed @param {string} principal whose conversation it is */
export function enter(changed, principal) {
  redraw = changed;
  if (talk.principal !== principal) {
    talk.abort?.abort();
    startAgain();
    talk.principal = principal;
  }
  talk.draft ||= suggestion();
}

const suggestion = () => store.me?.agent?.questions[talk.asked] ?? '';

/** @param {string} question */
export function ask(question) {
  talk.parts.push({ user: question, text: '', calls: [], note: '' });
  talk.question = question;
  talk.asked += 1;
  talk.draft = '';
  proceed();
}

/** Runs turns until the model has answered. */
export async function proceed() {
  if (talk.abort) {
    return;
  }
  const abort = new AbortController();
  talk.abort = abort;
  talk.problem = null;
  redraw();
  try {
    for (let step = 1; ; step += 1) {
      const callsTo = await turn(step <= MAX_STEPS, abort.signal);
      if (talk.open.length === 0) {
        break;
      }
      await outcomes(talk.open, callsTo, abort.signal);
    }
    say('The model has answered');
  } catch (e) {
    talk.problem = abort.signal.aborted ? null : e;
    if (e instanceof Problem && (e.status === 400 || e.status === 413)) {
      talk.open.forEach((call) => (call.isSendable = false));
    }
  }
  talk.abort = null;
  talk.draft ||= suggestion();
  redraw();
}

/** @param {boolean} mayCall @param {AbortSignal} signal */
async function turn(mayCall, signal) {
  const part = /** @type {Part} */ ({ text: '', calls: [], note: '' });
  talk.parts.push(part);
  redraw();
  requestAnimationFrame(() => document.querySelector('.chat li:last-child')?.scrollIntoView({ block: 'nearest' }));
  const members = [
    `"messages":[${talk.messages.join(',')}]`,
    ...(talk.id ? [`"conversation":"${talk.id}"`] : []),
    ...(talk.question ? [`"question":${JSON.stringify(talk.question)}`] : []),
    ...(talk.open.length > 0 ? [`"results":[${talk.open.map(sent).join(',')}]`] : []),
    ...(mayCall ? [] : ['"may_call":false']),
  ];
  const response = await request('POST', 'agent/turns', { body: `{${members.join(',')}}`, headers: { accept: 'text/event-stream' }, signal });
  for await (const { event, data } of events(response)) {
    if (event === 'text') {
      part.text += JSON.parse(data).text;
      part.note = '';
    } else if (event === 'retry') {
      part.note = `Trying again: ${JSON.parse(data).reason}`;
    } else if (event === 'error') {
      const body = JSON.parse(data);
      part.note = part.text ? 'This reply is incomplete.' : '';
      throw new Problem(body.status, body);
    } else if (event === 'turn') {
      return taken(part, data);
    }
    redraw();
  }
  throw new Problem(0, { detail: 'The connection has ended without a reply' });
}

/** @param {Part} part @param {string} data @returns {string} where the calls are made */
function taken(part, data) {
  talk.id = JSON.parse(member(data, 'conversation') ?? '""');
  talk.messages.push(...elements(member(data, 'messages') ?? '[]'));
  talk.question = '';
  const end = JSON.parse(member(data, 'end') ?? '""');
  part.note = end === 'cut' ? 'The answer was cut off at its token limit.' : end === 'refused' ? 'The model refused to answer.' : '';
  part.calls = elements(member(data, 'calls') ?? '[]').map((json) => {
    made += 1;
    const call = JSON.parse(json).function;
    return { json, number: made, name: call.name, arguments: call.arguments, response: '', isSendable: true, held: null, settle: null };
  });
  talk.open = part.calls;
  return JSON.parse(member(data, 'calls_to') ?? '""').slice(1);
}

/** Makes all calls at once; each passes the gate. @param {Call[]} calls @param {string} to @param {AbortSignal} signal */
async function outcomes(calls, to, signal) {
  try {
    await run(calls, to, signal);
    for (const call of calls) {
      await settled(call, to, signal);
    }
  } catch (e) {
    calls.filter((call) => call.settle || !call.held).forEach(reject);
    throw e;
  } finally {
    calls.forEach((call) => (call.settle = null));
  }
}

/** A call that waits is not left for others when its question is stopped. @param {Call} call */
function reject(call) {
  const { outcome, confirmation } = JSON.parse(call.response || '{}');
  if (outcome === 'confirmation_required') {
    call.response = failed(call, STOPPED);
    const { confirmation_id: id, token } = confirmation;
    if (token && !call.held?.isBusy()) {
      request('POST', path`confirmations/${id}`, { body: JSON.stringify({ confirm: false, token }) }).catch(() => {});
    }
  }
}

/** @param {Call[]} calls @param {string} to @param {AbortSignal} signal */
async function run(calls, to, signal) {
  calls.forEach((call) => (call.response = ''));
  redraw();
  const text = await (await request('POST', to, { body: `{"tool_calls":[${calls.map((call) => call.json).join(',')}]}`, signal })).text();
  const all = text.length > MAX_EXACT ? JSON.parse(text).tool_responses.map((/** @type {any} */ each) => JSON.stringify(each)) : elements(member(text, 'tool_responses') ?? '[]');
  all.forEach((/** @type {string} */ each, /** @type {number} */ i) => (calls[i].response = each));
  redraw();
}

/** Waits for the decision about a held call, and for a consent. @param {Call} call @param {string} to @param {AbortSignal} signal */
async function settled(call, to, signal) {
  signal.throwIfAborted();
  const outcome = JSON.parse(call.response);
  const isHeld = outcome.outcome === 'confirmation_required';
  if (!isHeld && outcome.problem?.code !== 'consent_required') {
    return;
  }
  const response = await new Promise((resolve, refuse) => {
    call.settle = resolve;
    signal.addEventListener('abort', () => refuse(signal.reason), { once: true });
    if (isHeld) {
      hold(call, outcome.confirmation.confirmation_id, signal);
    }
    redraw();
  });
  call.settle = null;
  if (response) {
    call.response = response;
  } else {
    await run([call], to, signal);
    await settled(call, to, signal);
  }
}

/** Shows what is to be decided, here or elsewhere. @param {Call} call @param {string} id @param {AbortSignal} signal */
function hold(call, id, signal) {
  const held = (member(call.response, 'confirmation') ?? '{}').trim();
  const decided = () => {
    if (call.held?.isOver()) {
      settle(call, ofDecision(call));
    }
  };
  call.held = approval(`${held.slice(0, -1)},"caller":${JSON.stringify(store.me?.principal ?? '')}}`, { changed: redraw, decided, isFresh: true });
  watch(call, id, signal);
}

/** A decision that comes after a stop is still told to the model. @param {Call} call @param {string} response */
function settle(call, response) {
  if (call.settle) {
    call.settle(response);
  } else if (talk.open.includes(call)) {
    call.response = response;
    redraw();
  }
}

/** Follows a call that others may decide. @param {Call} call @param {string} id @param {AbortSignal} signal */
async function watch(call, id, signal) {
  while (call.settle && !signal.aborted) {
    let pause = PAUSE_MILLIS;
    try {
      const state = await (await request('GET', path`confirmations/${id}`, { headers: { prefer: 'wait=20' }, signal })).text();
      const { status, reason, executed, problem } = JSON.parse(state);
      if (status === 'done') {
        call.settle?.(ofResult(call, member(state, 'result') ?? '{}'));
      } else if (status === 'failed') {
        call.settle?.(failed(call, failureOf({ code: problem.code, message: problem.detail, body: problem })));
      } else if (status === 'rejected') {
        call.settle?.(failed(call, `${REFUSED}${reason ? ` ${reason}` : ''}`));
      } else if (status === 'expired') {
        call.settle?.(failed(call, 'It has expired and has not run.'));
      } else if (executed && !call.held?.isBusy()) {
        call.settle?.(failed(call, `It was decided elsewhere, where its result is. ${EXECUTED[executed] ?? UNKNOWN}`));
      }
    } catch (e) {
      pause = RETRY_MILLIS;
      if (e instanceof Problem && e.status === 404) {
        call.settle?.(failed(call, UNKNOWN));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** @param {Call} call */
function ofDecision(call) {
  const outcome = call.held?.outcome();
  const problem = call.held?.problem();
  return outcome ? ofResult(call, outcome) : failed(call, problem ? failureOf(problem) : REFUSED);
}

/** What the model is told if the user does not wait. @param {Call} call */
export function skipped(call) {
  const { outcome, output } = JSON.parse(call.response);
  if (outcome !== 'confirmation_required') {
    return failed(call, output.error);
  }
  return /** @type {any} */ (call.held?.problem())?.status === 0 ? failed(call, UNKNOWN) : call.response;
}

export function startAgain() {
  Object.assign(talk, { id: '', messages: [], parts: [], open: [], question: '', asked: 0, problem: null });
  talk.draft = suggestion();
  redraw();
}
