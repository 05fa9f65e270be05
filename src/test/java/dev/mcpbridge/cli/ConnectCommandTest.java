package dev.mcpbridge.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectCommandTest {
  private static final String BEFORE =
      "{\"theme\": \"dark\", \"size\": 1.10, \"mcpServers\": {\"other\": {\"command\": \"x\"}}}";

  @TempDir Path folder;
  private Path file;
  private String output;

  @BeforeEach
  void open() {
    file = folder.resolve("clients").resolve("mcp.json");
  }

  private int connect(String... more) {
    List<String> arguments = new ArrayList<>(List.of("connect"));
    Collections.addAll(arguments, more);
    Collections.addAll(arguments, "--file", file.toString());
    StringWriter out = new StringWriter();
    int status =
        Main.program("connect")
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(out, true))
            .execute(arguments.toArray(String[]::new));
    output = out.toString();
    return status;
  }

  private JsonNode written() throws Exception {
    return Json.exactTree(Files.readString(file));
  }

  private void given(String text) throws Exception {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @Test
  void newFileIsCreated() throws Exception {
    assertEquals(0, connect("cursor", "--yes"), output);

    assertEquals(
        "{\"mcpServers\":{\"mcp-bridge\":{\"url\":\"http://127.0.0.1:3000/mcp\"}}}",
        written().toString());
  }

  @Test
  void everythingElseInTheFileStays() throws Exception {
    given(BEFORE);

    assertEquals(0, connect("gemini", "--yes", "--with-key", "--server", "git"), output);

    assertEquals(
        "{\"theme\":\"dark\",\"size\":1.10,\"mcpServers\":{\"other\":{\"command\":\"x\"},"
            + "\"git\":{\"httpUrl\":\"http://127.0.0.1:3000/servers/git/mcp\","
            + "\"headers\":{\"Authorization\":\"Bearer ${MCP_BRIDGE_KEY}\"}}}}",
        written().toString());
  }

  @Test
  void clientThatStartsProgramsGetsACommand() throws Exception {
    assertEquals(0, connect("claude-desktop", "--yes", "--url", "http://bridge:8080/"), output);

    assertEquals(
        "{\"command\":\"mcp-bridge\",\"args\":[\"stdio\",\"--url\",\"http://bridge:8080\"]}",
        written().at("/mcpServers/mcp-bridge").toString());
  }

  @Test
  void aProfileIsOfferedUnderItsName() throws Exception {
    assertEquals(0, connect("cursor", "--yes", "--profile", "desk"), output);
    assertEquals(0, connect("claude-desktop", "--yes", "--profile", "desk"), output);

    assertEquals(
        "[\"stdio\",\"--url\",\"http://127.0.0.1:3000\",\"--profile\",\"desk\"]",
        written().at("/mcpServers/desk/args").toString());
    assertEquals(2, connect("cursor", "--yes", "--profile", "desk", "--server", "git"), output);
  }

  @Test
  void anEndpointOfAProfileIsWrittenByItsUrl() throws Exception {
    assertEquals(0, connect("cursor", "--yes", "--profile", "desk"), output);

    assertEquals(
        "http://127.0.0.1:3000/profiles/desk/mcp", written().at("/mcpServers/desk/url").asText());
  }

  @Test
  void nothingIsWrittenWithoutAYes() throws Exception {
    given(BEFORE);
    InputStream in = System.in;
    try {
      for (String answer : List.of("n\n", "\n", "")) {
        System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
        assertEquals(1, connect("vscode"), output);
        assertEquals(BEFORE, Files.readString(file));
      }
      System.setIn(new ByteArrayInputStream("y\n".getBytes(StandardCharsets.UTF_8)));
      assertEquals(0, connect("vscode"), output);
    } finally {
      System.setIn(in);
    }
    assertTrue(output.contains("Changes " + file), output);
    assertEquals("http", written().at("/servers/mcp-bridge/type").asText());
  }

  @Test
  void entryThatIsThereAlreadyIsLeft() throws Exception {
    connect("windsurf", "--yes");
    String before = Files.readString(file);

    assertEquals(0, connect("windsurf"), output);

    assertTrue(output.contains("already"), output);
    assertEquals(before, Files.readString(file));
  }

  @Test
  void otherEntryOfTheSameNameIsShownBeforeItIsReplaced() throws Exception {
    given("{\"mcpServers\":{\"mcp-bridge\":{\"url\":\"http://old\"}}}");

    assertEquals(0, connect("cursor", "--yes"), output);

    assertTrue(output.contains("- mcp-bridge: {\"url\":\"http://old\"}"), output);
  }

  @Test
  void fileWithCommentsIsNotTouched() throws Exception {
    for (String text : List.of("{ // comment\n}", "[]", "{\"mcpServers\":[]}")) {
      given(text);

      assertEquals(1, connect("cursor", "--yes"));

      assertTrue(output.contains("Add this to 'mcpServers' yourself"), output);
      assertEquals(text, Files.readString(file));
    }
  }

  @Test
  void linkToTheFileStaysALink() throws Exception {
    given("{}");
    Path link = Files.createSymbolicLink(folder.resolve("link.json"), file);
    Path real = file;
    file = link;

    assertEquals(0, connect("cursor", "--yes"), output);

    assertTrue(Files.isSymbolicLink(link));
    assertTrue(Files.readString(real).contains("mcp-bridge"));
    assertFalse(Files.exists(folder.resolve("link.json.draft")));
  }

  @Test
  void unknownClientIsNamedWithTheKnownOnes() {
    assertEquals(2, connect("emacs"));
    assertTrue(output.contains("claude-code, claude-desktop, cursor"), output);
  }
}
