/**
 * The story of one tool call, the same for every door: {@link dev.mcpbridge.call.CallPipeline}.
 *
 * <p>Beside it stands what a call needs to know ({@link dev.mcpbridge.call.Directory}), what keeps
 * a repeated request from running twice ({@link dev.mcpbridge.call.IdempotencyKeys}) and what keeps
 * the outcome of a call that nobody waits for ({@link dev.mcpbridge.call.BackgroundCalls}).
 * Confined to the context of the HTTP verticle.
 */
package dev.mcpbridge.call;
