/** The console: a page for humans, made of the files in the resources of the same name. */
package dev.mcpbridge.http.console;
