package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of promises, each with a test that exists. */
class SecurityPageTest {
  private static final Path PAGE = Path.of("src/docs/security.md");
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test))`");

  @Test
  void everyPromiseNamesTestsThatExist() throws IOException {
    Set<String> existing;
    try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
      existing =
          files
              .map(file -> file.getFileName().toString().replace(".java", ""))
              .collect(Collectors.toSet());
    }
    Set<String> absent = new TreeSet<>();
    List<String> promises =
        Files.readAllLines(PAGE).stream()
            .filter(line -> line.startsWith("| a"))
            .filter(line -> !line.startsWith("| attacker"))
            .toList();
    for (String promise : promises) {
      List<String> tests =
          TEST.matcher(promise).results().map((MatchResult found) -> found.group(1)).toList();
      assertTrue(!tests.isEmpty(), "no test is named: " + promise);
      tests.stream().filter(test -> !existing.contains(test)).forEach(absent::add);
    }

    assertEquals(Set.of(), absent);
    assertTrue(promises.size() > 15, promises.toString());
  }
}
