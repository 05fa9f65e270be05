/** Logins of a user at bridges, for the commands that call them. Blocking. */
package dev.mcpbridge.cli.login;
