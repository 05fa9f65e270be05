/**
 * Chat models over plain HTTP. Messages are kept in the format of the model's API, so that nothing
 * that it requires back (thinking signatures, ids) is lost. Blocking, on the JDK's HTTP client: the
 * agent uses these classes for a single conversation, the bridge on worker threads.
 */
package dev.mcpbridge.llm;
