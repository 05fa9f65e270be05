package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Locale;

/**
 * Configuration of the audit trail.
 *
 * @param folder where it is kept; null for one in the state folder
 * @param refusesOnFailure whether calls are refused while it cannot be written; else they run
 * @param strict whether a call of level 2 or 3 waits until its decision is on the disk
 * @param arguments what a record has of the arguments of a call
 * @param segmentBytes size after which a file is closed and the next one begun
 * @param keepMillis how long a closed file is kept
 * @param maxBytes size of all files together; the oldest closed ones are deleted beyond it
 */
public record AuditConfig(
    Path folder,
    boolean refusesOnFailure,
    boolean strict,
    Content arguments,
    long segmentBytes,
    long keepMillis,
    long maxBytes) {

  /** What a record has of the arguments of a call. */
  public enum Content {
    NONE,
    DIGEST,
    FULL
  }

  /** Null if there is no section. */
  static AuditConfig read(Section audit, boolean isPresent) {
    if (!isPresent) {
      return null;
    }
    String folder = audit.text("folder");
    if (folder != null && Section.path(folder) == null) {
      audit.report("folder", "not a valid path");
    }
    return new AuditConfig(
        folder == null ? null : Section.path(folder),
        audit.text("onFailure").equals("refuse"),
        audit.flag("strict"),
        Content.valueOf(audit.text("arguments").toUpperCase(Locale.ROOT)),
        audit.bytes("segmentBytes"),
        audit.seconds("keep"),
        audit.bytes("maxBytes"));
  }
}
