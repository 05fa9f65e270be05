package dev.mcpbridge.http.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.http.reply.StaticFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConsolePageTest {
  private static final Path FOLDER = Path.of("src/main/resources/dev/mcpbridge/http/console");

  /** What would make markup or code of a text, or is refused by the policy of the page. */
  private static final Pattern FORBIDDEN =
      Pattern.compile(
          "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|unsafe-|unsafeHTML|eval\\("
              + "|new Function|setTimeout\\('|style=|document\\.cookie|srcdoc");

  private static List<Path> scripts() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(file -> file.toString().endsWith(".js")).toList();
    }
  }

  @Test
  void everyScriptIsServed() throws Exception {
    Set<String> expected =
        scripts().stream()
            .map(file -> "/console/" + file.getFileName())
            .collect(Collectors.toCollection(TreeSet::new));

    Set<String> served =
        ConsolePage.pages().keySet().stream()
            .filter(path -> path.matches("/console/\\w+\\.js"))
            .collect(Collectors.toCollection(TreeSet::new));

    assertEquals(expected, served);
  }

  @Test
  void scriptsAreSmall() throws Exception {
    long bytes = 0;
    for (Path script : scripts()) {
      bytes += ConsolePage.withoutComments(Files.readAllBytes(script)).length;
      assertTrue(Files.readAllLines(script).size() <= 300, script.toString());
    }
    for (String path : ConsolePage.pages().keySet()) {
      if (path.startsWith("/console/lit/")) {
        String file = StaticFiles.webJar("lit-html") + path.substring("/console/lit/".length());
        try (InputStream in = ConsolePage.class.getResourceAsStream(file)) {
          bytes += in.readAllBytes().length;
        }
      }
    }
    assertTrue(bytes < 150_000, "the scripts have " + bytes + " bytes");
  }

  @Test
  void noScriptMakesMarkupOrCodeOfTexts() throws Exception {
    for (Path script : scripts()) {
      assertFalse(FORBIDDEN.matcher(Files.readString(script)).find(), script.toString());
    }
  }
}
