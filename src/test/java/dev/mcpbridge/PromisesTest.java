package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages of promises: each names tests that exist. */
class PromisesTest {
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test|Rows))(?:\\.(\\w+))?`");
  private static final Pattern HEAD = Pattern.compile("\\| (attacker|attack|input) \\|.*");

  @ParameterizedTest
  @CsvSource({"security.md, 15", "evidence.md, 70"})
  void everyPromiseNamesTestsThatExist(String page, int atLeast) throws IOException {
    Map<String, Path> classes;
    try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
      classes =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .collect(
                  Collectors.toMap(
                      file -> file.getFileName().toString().replace(".java", ""),
                      file -> file,
                      (one, other) -> one));
    }
    List<String> promises =
        Files.readAllLines(Path.of("src/docs", page)).stream()
            .filter(line -> line.startsWith("| ") && !HEAD.matcher(line).matches())
            .toList();
    Set<String> absent = new TreeSet<>();
    for (String promise : promises) {
      List<MatchResult> tests = TEST.matcher(promise).results().toList();
      assertTrue(
          !tests.isEmpty() || promise.contains("cannot apply: "), "no test is named: " + promise);
      for (MatchResult test : tests) {
        if (!exists(classes.get(test.group(1)), test.group(2))) {
          absent.add(test.group());
        }
      }
    }

    assertEquals(Set.of(), absent);
    assertTrue(promises.size() >= atLeast, page + " has " + promises.size());
  }

  private static boolean exists(Path file, String method) throws IOException {
    return file != null
        && (method == null || Files.readString(file).contains("void " + method + "("));
  }
}
