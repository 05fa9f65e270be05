package dev.mcpbridge.model;

/**
 * Why a server was down last.
 *
 * @param reason a sentence, for everybody who may see the server
 * @param stderr the last line that its process wrote there, empty where there is none: for
 *     administrators and the log only, since it may hold anything
 */
public record LastError(String reason, String stderr) {

  public LastError(String reason) {
    this(reason, "");
  }

  /** With all that is known. */
  public String whole() {
    return stderr.isEmpty() ? reason : reason + ": " + stderr;
  }
}
