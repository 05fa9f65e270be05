/**
 * Credentials of callers for servers: sealed, in memory or in a file, or in the cluster's store.
 */
package dev.mcpbridge.credentials;
