/** The tools of a bridge for LangChain4j, for programs that have it on their class path. */
package dev.mcpbridge.api.langchain4j;
