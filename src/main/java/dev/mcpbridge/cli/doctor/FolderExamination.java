package dev.mcpbridge.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Examines a folder that a bridge writes to, without creating it. */
final class FolderExamination {
  private static final long MIN_FREE = 100L << 20;

  private FolderExamination() {}

  static Finding of(String subject, Path folder) {
    Path existing = folder.toAbsolutePath();
    while (existing != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (existing == null || !Files.isDirectory(existing) || !Files.isWritable(existing)) {
      return Finding.problem(
          subject,
          folder + " cannot be written by " + System.getProperty("user.name"),
          "Create it, or change its owner");
    }
    try {
      long free = Files.getFileStore(existing).getUsableSpace();
      String detail = folder + ", " + (free >> 20) + " MiB free";
      return free < MIN_FREE
          ? Finding.warning(subject, detail, "Free some space, or choose another folder")
          : Finding.ok(subject, detail);
    } catch (IOException e) {
      return Finding.warning(subject, folder + ": its space is unknown", "");
    }
  }
}
