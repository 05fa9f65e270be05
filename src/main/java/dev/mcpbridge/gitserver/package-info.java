/**
 * The built-in MCP server over local Git repositories, run as a child process of the bridge like
 * any other server. It sees what lies below its roots and nothing else.
 *
 * <p>{@link dev.mcpbridge.gitserver.GitServer} speaks the protocol, {@link
 * dev.mcpbridge.gitserver.GitTools} does the work, {@link dev.mcpbridge.gitserver.Repositories}
 * keeps to the roots. One thread, blocking.
 */
package dev.mcpbridge.gitserver;
