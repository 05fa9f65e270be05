package dev.mcpbridge.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolIndexTest {
  private static final ToolIndex INDEX =
      ToolIndex.of(
          tools(
              tool("git__git_log", "", "Shows the commits of a repository", "max_count"),
              tool("git__git_log_stat", "", "Log with the number of changed lines", ""),
              tool("mail__sendMessage", "", "Writes to a person", "recipientAddress"),
              tool("mail__list", "Inbox", "Everything that came in", "folder"),
              tool("http.get", "", "Fetches a page", "url"),
              tool("files__read", "", "Reads a file; writes a log of it", "path"),
              tool("wetter__天気", "天気予報", "今日の天気を調べる", "都市"),
              tool("cafe__größe_ändern", "", "Ändert die Größe eines Bildes", "breite")));

  private static Tool tool(String name, String title, String description, String parameter) {
    String schema =
        parameter.isEmpty()
            ? "{\"type\":\"object\"}"
            : "{\"type\":\"object\",\"properties\":{\"" + parameter + "\":{}}}";
    return tool(name, title, description, JsonSlice.of(schema));
  }

  private static Tool tool(String name, String title, String description, JsonSlice schema) {
    return new Tool(name, title, description, JsonSlice.EMPTY_OBJECT, schema, null, false, name);
  }

  private static Map<String, Tool> tools(Tool... tools) {
    Map<String, Tool> byName = new LinkedHashMap<>();
    for (Tool tool : tools) {
      byName.put(tool.name(), tool);
    }
    return byName;
  }

  @ParameterizedTest
  @CsvSource({
    "git__git_log, git__git_log",
    "git__git_log_stat, git__git_log_stat",
    "sendMessage, mail__sendMessage",
    "send_message, mail__sendMessage",
    "send message, mail__sendMessage",
    "SENDMESSAGE mail, mail__list|mail__sendMessage",
    "message, mail__sendMessage",
    "messages, mail__sendMessage",
    "mesage, mail__sendMessage",
    "comits, git__git_log",
    "repository, git__git_log",
    "maxCount, git__git_log",
    "recipient, mail__sendMessage",
    "recipient_address, mail__sendMessage",
    "inbox, mail__list",
    "http.get, http.get",
    "url, http.get",
    "fetch, http.get",
    "天気, wetter__天気",
    "都市, wetter__天気",
    "größe, cafe__größe_ändern",
    "GRÖSSE ÄNDERN, cafe__größe_ändern",
    "breite, cafe__größe_ändern",
  })
  void toolIsFoundByItsDefinition(String query, String expected) {
    List<String> found = INDEX.search(query, 5);

    assertFalse(found.isEmpty(), query);
    assertTrue(List.of(expected.split("\\|")).contains(found.get(0)), found.toString());
  }

  @Test
  void nameRanksAboveDescriptionAboveParameter() {
    ToolIndex index =
        ToolIndex.of(
            tools(
                tool("a", "", "Something", "invoice"),
                tool("b", "", "Makes invoice", "x"),
                tool("invoice", "", "Something", "x"),
                tool("d", "", "Something", "x")));

    assertEquals(List.of("invoice", "b", "a"), index.search("invoice", 10));
  }

  @Test
  void fullMatchRanksAbovePrefixAboveTypo() {
    ToolIndex index =
        ToolIndex.of(
            tools(
                tool("a", "", "clonning", ""),
                tool("b", "", "cloningmachine", ""),
                tool("c", "", "cloning", "")));

    assertEquals(List.of("c", "b", "a"), index.search("cloning", 10));
  }

  @Test
  void exactNameIsFirst() {
    Map<String, Tool> tools = new LinkedHashMap<>();
    for (int i = 0; i < 50; i++) {
      String name = "log_get_" + i;
      tools.put(name, tool(name, "get log", "get log, get log, get the log, getlog", "log"));
    }
    tools.put("get_log", tool("get_log", "", "Something else entirely", ""));
    tools.put("x__get_log_x", tool("x__get_log_x", "get log", "get log", "get_log"));

    assertEquals("get_log", ToolIndex.of(tools).search("get_log", 3).get(0));
    assertEquals("get_log", ToolIndex.of(tools).search("  Get_Log ", 3).get(0));
    assertEquals("log_get_7", ToolIndex.of(tools).search("log_get_7", 3).get(0));
  }

  @Test
  void resultsAreLimitedAndDistinct() {
    List<String> all = INDEX.search("git log mail message file page", 50);

    assertEquals(all.stream().distinct().toList(), all);
    assertTrue(all.size() > 3, all.toString());
    assertEquals(all.subList(0, 2), INDEX.search("git log mail message file page", 2));
  }

  @Test
  void unknownWordFindsNothing() {
    assertEquals(List.of(), INDEX.search("quetzalcoatl", 10));
    assertEquals(List.of(), ToolIndex.of(Map.of()).search("anything", 10));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "\t\n", "!?", "***", "\"\"", "()", "\u0000", "🎉", "__", "-", "~"})
  void queryWithoutWordsFindsNothing(String query) {
    assertEquals(List.of(), INDEX.search(query, 10));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "name:\"x\" OR (*:*)",
        "log AND NOT git",
        "+log -git ^5 ~2 [a TO z] {x}",
        "git*",
        "l?g",
        "/.*/",
        "log\\",
        "\"log",
        "(((log",
        "\uD800 log",
        "log\u0000log",
        "l\u0301og log"
      })
  void luceneSyntaxIsTreatedAsPlainWords(String query) {
    List<String> found = INDEX.search(query, 50);

    assertTrue(found.size() < 8, "too many matches: " + found);
  }

  @Test
  void longQueriesAndWordsAreFast() {
    String words =
        IntStream.range(0, 2_000).mapToObj(i -> "log" + i).collect(Collectors.joining(" "));
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          assertEquals(List.of(), INDEX.search("a".repeat(10_000), 10));
          INDEX.search("é".repeat(100_000), 10);
          INDEX.search("ab ".repeat(3_334), 10);
          INDEX.search(words, 10);
          assertTrue(INDEX.search("repository" + "!".repeat(10_000), 1).contains("git__git_log"));
        });
  }

  @Test
  void queryWithManySimilarWordsSucceeds() {
    Map<String, Tool> tools = new LinkedHashMap<>();
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      String similar = "abcdefg" + (char) ('a' + random.nextInt(26)) + (char) ('a' + i % 26);
      String name = similar + "_" + i;
      tools.put(name, tool(name, similar + "x", similar + " and abcdefgh" + i % 50, similar));
    }
    ToolIndex index = ToolIndex.of(tools);
    String query =
        IntStream.range(0, 40)
            .mapToObj(i -> "abcdefg" + (char) ('a' + i % 26) + (char) ('a' + i / 2))
            .collect(Collectors.joining(" "));

    assertEquals(10, index.search(query, 10).size());
  }

  @Test
  void largeIndexFindsUniqueWords() {
    Map<String, Tool> tools = new LinkedHashMap<>();
    for (int i = 0; i < 2_000; i++) {
      String name = "server" + i % 20 + "__do_thing_" + i;
      tools.put(name, tool(name, "Thing " + i, "Does the thing number" + i, "param" + i));
    }

    assertTimeoutPreemptively(
        Duration.ofSeconds(30),
        () -> {
          ToolIndex index = ToolIndex.of(tools);
          for (int i = 0; i < 2_000; i += 97) {
            String name = "server" + i % 20 + "__do_thing_" + i;
            assertEquals(name, index.search(name, 5).get(0));
            assertEquals(name, index.search("number" + i, 5).get(0));
            assertEquals(name, index.search("PARAM" + i, 5).get(0));
          }
          assertEquals(50, index.search("thing", 50).size());
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "true",
        "[]",
        "\"x\"",
        "{\"properties\":[]}",
        "{\"properties\":true}",
        "{\"properties\":{\"a\":true,\"b\":false,\"c\":null,\"d\":7}}",
        "{\"properties\":{\"a\":{\"description\":7}}}",
        "{\"properties\":{\"\":{\"description\":\"\"}}}",
      })
  void toolWithInvalidSchemaIsFound(String schema) {
    ToolIndex index = ToolIndex.of(tools(tool("odd", "", "Odd one", JsonSlice.of(schema))));

    assertEquals(List.of("odd"), index.search("odd", 10));
  }

  @Test
  void toolWithHugeNameDoesNotHideOthers() {
    String name = "long".repeat(20_000);
    ToolIndex index = ToolIndex.of(tools(tool(name, "", name, name), tool("odd", "", "", "")));

    assertEquals(List.of("odd"), index.search("odd", 10));
    assertEquals(List.of(name), index.search(name, 10));
  }

  @Test
  void toolWithoutSchemaIsFound() {
    ToolIndex index = ToolIndex.of(tools(tool("bare", "", "", (JsonSlice) null)));

    assertEquals(List.of("bare"), index.search("bare", 10));
  }
}
