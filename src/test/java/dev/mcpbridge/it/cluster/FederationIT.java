package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bridges in front of bridges: chains, pairs and rings. */
@Tag("cluster")
class FederationIT {
  private static final String FORMS = "{\"elicitation\":{}}";
  private final Map<String, TestBridge> bridges = new LinkedHashMap<>();
  private final Map<String, Integer> ports = new LinkedHashMap<>();

  @AfterEach
  void stop() throws Exception {
    for (TestBridge bridge : bridges.values()) {
      bridge.close();
    }
  }

  private int port(String bridge) throws IOException {
    if (!ports.containsKey(bridge)) {
      ports.put(bridge, FreePorts.find(1).get(0));
    }
    return ports.get(bridge);
  }

  /** The configuration entry of another bridge, which need not be running yet. */
  private String peer(String bridge, String more) throws IOException {
    return "'%s':{'type':'mcp','url':'http://127.0.0.1:%d/mcp','maxRestartDelay':0.2%s}"
        .formatted(bridge, port(bridge), more);
  }

  private TestBridge start(String name, String servers) throws Exception {
    TestBridge bridge = TestBridge.at(port(name), "{'mcpServers':{" + servers + "}}");
    bridges.put(name, bridge);
    return bridge;
  }

  private static String localServer(String keys) {
    return "'s':" + TestBridge.entry(keys);
  }

  /** The distinct prefixes of the tools that a bridge lists for a peer. */
  private static TreeSet<String> prefixes(TestBridge bridge, String peer) throws Exception {
    TreeSet<String> prefixes = new TreeSet<>();
    for (JsonNode tool : bridge.get("/servers/" + peer + "/tools").body().path("tools")) {
      String name = tool.path("name").asText();
      prefixes.add(name.substring(0, name.lastIndexOf("__")));
    }
    return prefixes;
  }

  private static void awaitPrefixes(TestBridge bridge, String peer, String... expected)
      throws Exception {
    bridge.until(() -> bridge.state(peer).equals("ready"));
    TreeSet<String> expectedPrefixes = new TreeSet<>(List.of(expected));
    bridge.until(() -> prefixes(bridge, peer).equals(expectedPrefixes));
  }

  private static Answer call(TestBridge bridge, String server, String tool, String arguments)
      throws Exception {
    return bridge.post("/servers/" + server + "/tools/" + tool, arguments);
  }

  private static void assertEchoes(TestBridge bridge, String server, String tool) throws Exception {
    String arguments = "{\"big\":9007199254740993,\"d\":1.10,\"s\":\"\\u00e9\"}";
    Answer echo = call(bridge, server, tool, arguments);
    assertTrue(echo.text().contains("\"structuredContent\":" + arguments), echo.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "legacy", "modern"})
  void toolsOfAPeerAreListedWithItsNameAsPrefix(String era) throws Exception {
    start("far", localServer(""));
    TestBridge near = start("near", peer("far", ",'era':'" + era + "'"));
    awaitPrefixes(near, "far", "s");

    assertEchoes(near, "far", "s__echo");
    Reply echo = new McpClient(near.uri("/mcp"), "{}").stateless("tools/list", "");
    assertTrue(echo.text().contains("\"far__s__echo\""), echo.text());
    Answer progress =
        near.post(
            "/servers/far/tools/s__progress",
            "{\"steps\":3,\"ms\":50}",
            "accept",
            "text/event-stream");
    assertEquals(List.of("progress", "progress", "progress", "result"), progress.events());
    Answer resource = near.get("/servers/far/resources/test%3A%2F%2Fx");
    assertEquals("content of test://x", resource.at("/contents/0/text"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void mutualPeersListEachOthersToolsButNotTheirOwn(String era) throws Exception {
    String key = ",'era':'" + era + "'";
    TestBridge one = start("one", localServer("") + "," + peer("two", key));
    TestBridge two = start("two", localServer("") + "," + peer("one", key));

    awaitPrefixes(one, "two", "s");
    awaitPrefixes(two, "one", "s");

    assertEchoes(one, "two", "s__echo");
    assertEchoes(two, "one", "s__echo");
    call(one, "s", "grow", "{}");
    two.until(() -> call(two, "one", "s__grown_0", "{}").status() == 200);
    assertPrefixesStay(one, "two", "s");
    assertPrefixesStay(two, "one", "s");
  }

  /** Asserts that list change notifications between peers add no entries. */
  private static void assertPrefixesStay(TestBridge bridge, String peer, String... expected)
      throws Exception {
    for (long end = System.nanoTime() + 1_500_000_000L; System.nanoTime() < end; ) {
      assertEquals(new TreeSet<>(List.of(expected)), prefixes(bridge, peer));
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  @Test
  void aRingOfThreeListsEachToolOncePerPath() throws Exception {
    TestBridge one = start("one", localServer("") + "," + peer("two", ""));
    TestBridge two = start("two", localServer("") + "," + peer("three", ""));
    TestBridge three = start("three", localServer("") + "," + peer("one", ""));

    awaitPrefixes(one, "two", "s", "three__s");
    awaitPrefixes(two, "three", "s", "one__s");
    awaitPrefixes(three, "one", "s", "two__s");

    assertEchoes(one, "two", "three__s__echo");
    assertEchoes(three, "one", "two__s__echo");
    call(two, "s", "grow", "{}");
    three.until(() -> call(three, "one", "two__s__grown_0", "{}").status() == 200);
  }

  @Test
  void aBridgeAsItsOwnUpstreamReportsItAndServesOthers() throws Exception {
    TestBridge one = start("one", localServer("") + "," + peer("one", ""));

    one.until(() -> one.get("/servers/one").body().path("last_error").isTextual());
    Answer shown = one.get("/servers/one");
    assertTrue(shown.text().contains("this bridge itself"), shown.toString());
    one.awaitReady("s");
    assertEchoes(one, "s", "echo");
    Answer refused = call(one, "one", "s__echo", "{}");
    assertEquals("no", refused.at("/executed"), refused.toString());
  }

  @Test
  void aLoopingRequestIsRejected() throws Exception {
    TestBridge one = start("one", localServer(""));
    one.awaitReady("s");
    McpClient session = new McpClient(one.uri("/mcp"), "{}");
    String id = session.initialize().path("_meta").path("dev.mcpbridge/bridge").asText();
    String via = "\"_meta\":{\"dev.mcpbridge/via\":[\"another\",\"" + id + "\"]}";

    Reply inSession =
        session.request("tools/call", "{\"name\":\"s__echo\",\"arguments\":{},%s}".formatted(via));

    assertEquals(508, inSession.status(), inSession.text());
    assertEquals(508, inSession.errorCode());
    String strange = via.replace(id, "a third");
    Reply passes =
        session.request(
            "tools/call", "{\"name\":\"s__echo\",\"arguments\":{},%s}".formatted(strange));
    assertEquals(200, passes.status(), passes.text());
    for (String garbage : List.of("1", "[1,null]", "{}", "\"" + id + "\"")) {
      String odd = "\"_meta\":{\"dev.mcpbridge/via\":" + garbage + "}";
      String params = "{\"name\":\"s__echo\",\"arguments\":{}," + odd + "}";
      assertEquals(200, session.request("tools/call", params).status(), garbage);
    }
  }

  @Test
  void theBridgePathIsNotPassedToServers(@TempDir Path folder) throws Exception {
    Path input = folder.resolve("input");
    String program = TestBridge.java() + " " + String.join(" ", TestBridge.javaArgs());
    start("far", "'s':{'command':'sh','args':['-c','tee %s | %s']}".formatted(input, program));
    TestBridge near = start("near", peer("far", ""));
    awaitPrefixes(near, "far", "s");
    McpClient client = new McpClient(near.uri("/mcp"), "{}").initialized();

    String params =
        "{\"name\":\"far__s__promise\",\"arguments\":{\"a\":1},\"_meta\":{\"own\":1,"
            + "\"dev.mcpbridge/via\":[\"x\"]}}";

    Reply answered = client.request("tools/call", params);
    assertEquals(200, answered.status(), answered.text());
    assertFalse(answered.text().contains("via"), answered.text());
    String received = Files.readString(input);
    assertTrue(received.contains("\"own\":1"), received);
    assertFalse(received.contains("dev.mcpbridge/via"), received);
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void remoteConfirmationsAreElicitedFromTheLocalClient(String era) throws Exception {
    start("far", localServer("'risk':{'tools':{'big':2}}"));
    TestBridge near = start("near", peer("far", ",'era':'" + era + "'"));
    awaitPrefixes(near, "far", "s");
    List<JsonNode> requests = new ArrayList<>();
    McpClient client =
        new McpClient(near.uri("/mcp"), FORMS)
            .withRequestHandler(
                request -> {
                  requests.add(request);
                  return requests.size() == 1
                      ? "{\"action\":\"accept\",\"content\":{\"confirm\":true}}"
                      : "{\"action\":\"decline\"}";
                });
    client.initialize();

    assertEquals("xxx", client.call("far__s__big", "{\"size\":3}").firstText());
    assertTrue(requests.get(0).toString().contains("{\\\"size\\\":3}"), requests.toString());
    Reply refused = client.call("far__s__big", "{\"size\":3}");
    assertTrue(refused.result().path("isError").asBoolean(), refused.text());
    assertEquals(2, requests.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void remoteConfirmationsAreDecidedLocallyWithoutForms(String era) throws Exception {
    CapturedLog log = new CapturedLog();
    TestBridge far = start("far", localServer("'risk':{'tools':{'big':2}}"));
    TestBridge middle = start("middle", peer("far", ",'era':'" + era + "'"));
    TestBridge near = start("near", peer("middle", ",'era':'" + era + "'"));
    awaitPrefixes(near, "middle", "far__s");
    String tool = "far__s__big";

    JsonNode pending = call(near, "middle", tool, "{\"size\":3}").body();
    assertTrue(pending.path("requires_confirmation").asBoolean(), pending.toString());
    assertEquals(tool, pending.path("tool_name").asText());
    assertEquals("xxx", confirm(near, pending).firstText());
    assertNoConfirmations(far, middle, near);

    McpClient client = new McpClient(near.uri("/mcp"), "{}").initialized();
    Reply explained = client.call("middle__" + tool, "{\"size\":3}");
    JsonNode listed = near.get("/confirmations").body().at("/confirmations/0");
    String id = listed.path("confirmation_id").asText();
    assertTrue(explained.firstText().contains(id), explained.text());
    String yes = "{\"confirm\":true,\"token\":\"" + log.token(id) + "\"}";
    assertEquals("xxx", near.post("/confirmations/" + id, yes).firstText());
    assertNoConfirmations(far, middle, near);
  }

  @Test
  void oneConfirmationIsValidForAllBridgesOfThePath() throws Exception {
    TestBridge far = start("far", localServer("'risk':{'tools':{'big':2}}"));
    TestBridge near = start("near", peer("far", ",'risk':{'tools':{'s__big':2}}"));
    awaitPrefixes(near, "far", "s");

    JsonNode pending = call(near, "far", "s__big", "{\"size\":3}").body();

    assertEquals("xxx", confirm(near, pending).firstText());
    assertNoConfirmations(far, near);
  }

  @Test
  void aConfirmationIsBoundToItsCallAndUsedOnce() throws Exception {
    TestBridge far = start("far", localServer("'risk':{'tools':{'big':2}}"));
    far.awaitReady("s");
    McpClient bridge = new McpClient(far.uri("/mcp"), "{}").initialized();
    String call = "{\"name\":\"s__big\",\"arguments\":{\"size\":%d},\"_meta\":{%s}}";
    String confirms = "\"dev.mcpbridge/confirms\":true";
    String state =
        bridge
            .request("tools/call", call.formatted(3, confirms))
            .at("/_meta/dev.mcpbridge~1confirmation");
    String confirmed = "\"dev.mcpbridge/confirmed\":\"" + state + "\"";

    assertEquals(-32602, bridge.request("tools/call", call.formatted(4, confirmed)).errorCode());
    assertEquals("xxx", bridge.request("tools/call", call.formatted(3, confirmed)).firstText());
    assertEquals(-32602, bridge.request("tools/call", call.formatted(3, confirmed)).errorCode());
  }

  private static Answer confirm(TestBridge bridge, JsonNode pending) throws Exception {
    return bridge.post(
        "/confirmations/" + pending.path("confirmation_id").asText(),
        "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}");
  }

  private static void assertNoConfirmations(TestBridge... bridges) throws Exception {
    for (TestBridge bridge : bridges) {
      assertEquals("[]", bridge.get("/confirmations").body().path("confirmations").toString());
    }
  }

  @Test
  void aRestartedPeerIsReconnected() throws Exception {
    TestBridge far = start("far", localServer("") + "," + peer("near", ""));
    TestBridge near = start("near", localServer("") + "," + peer("far", ""));
    awaitPrefixes(near, "far", "s");
    awaitPrefixes(far, "near", "s");

    far.close();
    near.until(() -> call(near, "far", "s__echo", "{}").status() >= 500);
    TestBridge again = start("far", localServer("") + "," + peer("near", ""));

    near.until(() -> call(near, "far", "s__echo", "{}").status() == 200);
    awaitPrefixes(near, "far", "s");
    awaitPrefixes(again, "near", "s");
    assertEchoes(again, "near", "s__echo");
  }
}
