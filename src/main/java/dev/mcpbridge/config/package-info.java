/**
 * Reads the configuration file and the environment into validated values; no other package does.
 * Every problem names the path of the key, the value found and the value expected.
 */
package dev.mcpbridge.config;
