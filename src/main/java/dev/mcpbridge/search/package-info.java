/** Full-text search of tools. The only user of Lucene. */
package dev.mcpbridge.search;
