package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.protocol.Envelope;
import java.util.List;

/**
 * The tools that an agent may use. Blocking; an interrupt of the thread cancels what is running.
 */
public interface AgentTools {
  /**
   * The tool definitions in a model's format.
   *
   * @return the value of {@code tools}
   */
  JsonNode list(Format format) throws InterruptedException;

  /** Runs all calls at once. Returns their outcomes in the order of the calls. */
  List<ToolOutcome> run(List<FunctionCall> calls) throws InterruptedException;

  /** Approves a pending call and returns its outcome. */
  ToolOutcome approve(ToolOutcome.Pending call) throws InterruptedException;

  /**
   * Rejects a pending call. A refusal means that it has expired or was decided elsewhere: in both
   * cases it does not run for this agent.
   */
  void reject(ToolOutcome.Pending call) throws InterruptedException;

  /** Sends the context of a trace with all further requests. */
  default void follow(Envelope trace) {}
}
