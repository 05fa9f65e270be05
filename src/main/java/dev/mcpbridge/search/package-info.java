/** Finds tools by what they are said to do. The only user of Lucene. */
package dev.mcpbridge.search;
