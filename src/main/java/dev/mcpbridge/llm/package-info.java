/**
 * Chat models over plain HTTP. What is said to a model and what it answers stays as its API writes
 * it, so that nothing which it wants back (signatures of thoughts, ids) is lost. Blocking, on the
 * JDK's HTTP client: these are used by a program with one conversation, not by the bridge.
 */
package dev.mcpbridge.llm;
