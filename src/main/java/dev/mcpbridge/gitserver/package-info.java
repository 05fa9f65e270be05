/**
 * The built-in MCP server for local Git repositories, run as a child process of the bridge like any
 * other server. It has access to the folders below its roots only.
 *
 * <p>{@link dev.mcpbridge.gitserver.GitServer} implements the protocol, {@link
 * dev.mcpbridge.gitserver.GitTools} the tools, {@link dev.mcpbridge.gitserver.Repositories} the
 * lookup below the roots. Repositories are treated as data: {@link
 * dev.mcpbridge.gitserver.RepositoryAccess} decides which may be opened, {@link
 * dev.mcpbridge.gitserver.DataOnlyFiles} is the only file system through which JGit accesses them,
 * and {@link dev.mcpbridge.gitserver.RepositorySettings} filters their configuration. Single
 * thread, blocking.
 */
package dev.mcpbridge.gitserver;
