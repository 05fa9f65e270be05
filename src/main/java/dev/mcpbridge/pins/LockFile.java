package dev.mcpbridge.pins;

import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;

/** The lock file, which a person may edit or replace at any time. Its methods block. */
record LockFile(Path path) {

  /**
   * What the file held when it was read or written.
   *
   * @param text null without a file
   * @param digest SHA-256 of the text, in hexadecimal digits; null without a file
   * @param stamp changes with the file; null if the file has to be read again
   */
  record Content(String text, String digest, Stamp stamp, Map<ServerId, ServerPins> pins) {
    static final Content NONE = new Content(null, null, null, Map.of());
  }

  record Stamp(FileTime modified, long size) {}

  /**
   * Reads the file, unless its time and size are those of an earlier content.
   *
   * @throws IOException with what is wrong and where
   */
  Content read(Content before) throws IOException {
    if (!Files.exists(path)) {
      return Content.NONE;
    }
    try {
      Stamp stamp = new Stamp(Files.getLastModifiedTime(path), Files.size(path));
      if (stamp.equals(before.stamp)) {
        return before;
      }
      String text = Files.readString(path);
      Map<ServerId, ServerPins> pins = text.equals(before.text) ? before.pins : LockText.read(text);
      return new Content(text, Sha256.of(text).hex(), stamp, pins);
    } catch (IOException e) {
      throw new IOException(
          path
              + " is not a lock file: "
              + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
              + ". Restore it from version control, or move it away to approve everything again",
          e);
    }
  }

  /** Writes the pins, unless the file was edited since it had an earlier content. */
  Content write(Map<ServerId, ServerPins> pins, Content before) throws IOException {
    String text = LockText.write(pins);
    boolean isEdited = Files.exists(path) && !Files.readString(path).equals(before.text);
    if (isEdited) { // maybe within the resolution of its time: it is to be read again
      return new Content(before.text, before.digest, null, before.pins);
    }
    Map<ServerId, ServerPins> again = LockText.read(text);
    Path real = Files.isSymbolicLink(path) ? path.toRealPath() : path;
    FileTime modified = PrivateFile.replace(real, text);
    long size = text.getBytes(StandardCharsets.UTF_8).length;
    return new Content(text, Sha256.of(text).hex(), new Stamp(modified, size), again);
  }
}
