// @ts-check
import { member } from './json.js';

/** Responses to the calls of a model, in the form of `tool_responses`, for what became of them in the page. */

/** @typedef {import('./conversation.js').Call} Call */

/** A longer response is not sent to the model, and one that is much longer not split exactly. */
const MAX_RESPONSE = 512 * 1024;
export const MAX_EXACT = 4 * 1024 * 1024;

export const STOPPED = 'The user has stopped this. Whether it was executed is not known.';
/** What a failure says of the call, for the model. @type {Record<string, string>} */
export const EXECUTED = { no: 'Nothing was executed.', yes: 'It was executed.' };
export const UNKNOWN = 'Whether it was executed is not known: check before you repeat it.';

export const REFUSED = 'The user has refused this call. It has not run: do not try it again unless the user asks.';

/** What the model is told of a call. @param {Call} call */
export function sent(call) {
  if (!call.response) {
    return failed(call, STOPPED);
  }
  return call.isSendable && call.response.length <= MAX_RESPONSE
    ? call.response
    : failed(call, `The call has ended: ${JSON.parse(call.response).outcome}. Its result is too large, or not valid, for this conversation.`);
}

/** @param {Call} call @param {string} json of the tool's result */
export function ofResult(call, json) {
  const structured = member(json, 'structuredContent');
  return response(call, member(json, 'isError') === 'true' ? 'tool_error' : 'completed', `"content":${member(json, 'content') ?? '[]'}${structured ? `,"structured_content":${structured}` : ''}`);
}

/** @param {any} problem */
export const failureOf = ({ code: cause, message, body }) => (cause === 'confirmation_not_found' ? `It was decided elsewhere. ${UNKNOWN}` : `${message}\n${EXECUTED[body?.executed] ?? UNKNOWN}`);

/** @param {Call} call @param {string} error */
export const failed = (call, error) => response(call, 'failed', `"output":{"error":${JSON.stringify(error)}}`);

/** @param {Call} call @param {string} outcome @param {string} members */
const response = (call, outcome, members) => `{"tool_call_id":${member(call.json, 'id')},"name":${JSON.stringify(call.name)},"outcome":"${outcome}",${members}}`;
