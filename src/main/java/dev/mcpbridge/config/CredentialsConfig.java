package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

/**
 * Where credentials of callers for servers are kept.
 *
 * @param keys the first seals, all open; empty to keep them in memory only
 * @param file null for one in the state folder
 * @param idleMillis after which an unused credential from OAuth is deleted
 */
public record CredentialsConfig(List<Key> keys, Path file, long idleMillis) {

  /** A sealing key of 32 bytes, in Base64. */
  public record Key(String id, Secret base64) {}

  static CredentialsConfig read(Section section) {
    List<Key> keys =
        section.sections("keys").stream()
            .map(key -> new Key(key.text("id"), new Secret(sealingKey(key))))
            .toList();
    if (keys.stream().map(Key::id).distinct().count() < keys.size()) {
      section.report("keys", "two keys have the same id");
    }
    String file = section.text("file");
    if (file != null && Section.path(file) == null) {
      section.report("file", "not a valid path");
    }
    return new CredentialsConfig(
        keys, file == null ? null : Section.path(file), section.seconds("idle"));
  }

  private static String sealingKey(Section key) {
    String text = key.text("key", "").strip();
    try {
      if (Base64.getDecoder().decode(text).length == 32) {
        return text;
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    key.report("key", "expected 32 bytes in Base64, such as from openssl rand -base64 32");
    return "";
  }
}
