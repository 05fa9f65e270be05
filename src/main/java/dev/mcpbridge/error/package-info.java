/**
 * The error vocabulary of the bridge: error codes, and whether the failed call was executed.
 *
 * <p>Thrown everywhere, rendered only at the edges (problem+json, a JSON-RPC error, a failure on
 * the bus). Does not depend on other packages of the bridge.
 */
package dev.mcpbridge.error;
