package dev.mcpbridge.model;

/**
 * The reason of the last failure of a server.
 *
 * @param reason for everyone who may see the server
 * @param stderr last line that the process wrote to stderr, or empty; only for administrators and
 *     the log, since it may contain anything
 */
public record LastError(String reason, String stderr) {

  public LastError(String reason) {
    this(reason, "");
  }

  /** The reason and the output. */
  public String describe() {
    return stderr.isEmpty() ? reason : reason + ": " + stderr;
  }
}
