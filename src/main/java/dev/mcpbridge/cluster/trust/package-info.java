/**
 * What nodes trust: keys that are derived from the shared secret, certificates, encrypted values.
 */
package dev.mcpbridge.cluster.trust;
