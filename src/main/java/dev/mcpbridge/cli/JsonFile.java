package dev.mcpbridge.cli;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * A JSON file of a user, of which one entry is changed after a yes. All else in it stays.
 *
 * @param path need not exist
 */
record JsonFile(Path path) {
  private static final DefaultPrettyPrinter.Indenter INDENTER = new DefaultIndenter("  ", "\n");

  /** The present content; an empty object for a new file; null if it is not plain JSON. */
  ObjectNode read() throws IOException {
    if (!Files.exists(path)) {
      return Json.object();
    }
    String text = Files.readString(path);
    try {
      JsonNode read = text.isBlank() ? Json.object() : Json.exactTree(text);
      return read instanceof ObjectNode object ? object : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Shows how an entry changes. */
  void show(PrintWriter out, JsonNode before, String entryName, ObjectNode entry) {
    out.println((Files.exists(path) ? "Changes " : "Creates ") + path + ":");
    if (!before.isMissingNode()) {
      out.println(HiddenCharacters.escaped("- " + entryName + ": " + before));
    }
    out.println(HiddenCharacters.escaped("+ " + entryName + ": " + entry));
    out.flush();
  }

  /** Asks at the terminal. */
  static boolean isAgreed(PrintWriter out) throws IOException {
    out.print("Write it? [y/N] ");
    out.flush();
    String answer =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
    return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
  }

  /** A symbolic link stays one: the file that it leads to is replaced. */
  void write(JsonNode content) throws IOException {
    Path real = Files.exists(path) ? path.toRealPath() : path.toAbsolutePath();
    Files.createDirectories(real.getParent());
    Path draft = real.resolveSibling(real.getFileName() + ".draft");
    Files.writeString(draft, text(content) + "\n");
    Files.move(draft, real, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  static String text(JsonNode json) {
    DefaultPrettyPrinter printer =
        new DefaultPrettyPrinter().withObjectIndenter(INDENTER).withArrayIndenter(INDENTER);
    try {
      return Json.mapper().writer(printer).writeValueAsString(json).replace("\" : ", "\": ");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
