/**
 * Execution of calls, the same for every door: {@link dev.mcpbridge.call.CallPipeline}.
 *
 * <p>The other classes resolve servers and tools ({@link dev.mcpbridge.call.Directory}), prevent a
 * repeated request from running twice ({@link dev.mcpbridge.call.IdempotencyKeys}) and store the
 * outcomes of background calls ({@link dev.mcpbridge.call.BackgroundCalls}). Confined to the
 * context of the HTTP verticle.
 */
package dev.mcpbridge.call;
