/**
 * The only reader of files and environment: what the operator wants, as values that are either
 * right or not there. Every complaint names the path of the key, what it found and what it
 * expected.
 */
package dev.mcpbridge.config;
