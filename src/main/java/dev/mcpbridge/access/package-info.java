/**
 * Access rules: who may list and use which tools, resources and prompts, and with which arguments.
 * One decision for lists and calls. Knows no threads, no sockets and no configuration file.
 */
package dev.mcpbridge.access;
