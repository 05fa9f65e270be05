/**
 * Signed notices to receivers outside of the bridge, in the format of <a
 * href="https://www.standardwebhooks.com">Standard Webhooks</a>.
 */
package dev.mcpbridge.webhook;
