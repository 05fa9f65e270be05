/**
 * The built-in MCP server over local Git repositories, run as a child process of the bridge like
 * any other server. It sees what lies below its roots and nothing else.
 *
 * <p>{@link dev.mcpbridge.gitserver.GitServer} speaks the protocol, {@link
 * dev.mcpbridge.gitserver.GitTools} does the work, {@link dev.mcpbridge.gitserver.Repositories}
 * keeps to the roots. To all of it a repository is data: {@link dev.mcpbridge.gitserver.Admission}
 * says which may be opened, {@link dev.mcpbridge.gitserver.DataOnlyFiles} is the only way by which
 * JGit opens them, and {@link dev.mcpbridge.gitserver.RepositorySettings} what of their
 * configuration counts. One thread, blocking.
 */
package dev.mcpbridge.gitserver;
