package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The metrics of a bridge. */
@Tag("program")
class MetricsIT {
  @AutoClose
  private static final TestBridge bridge =
      TestBridge.scripted("'risk':{'tools':{'big':2}},'tools':{'never':{'timeout':0.3}}");

  private static void assertLine(String line) throws Exception {
    Answer page = bridge.get("/metrics");
    assertEquals(200, page.status());
    assertTrue(page.header("content-type").startsWith("text/plain"), page.toString());
    assertTrue(page.text().contains(line + "\n"), page.text());
  }

  private static double value(String series) throws Exception {
    return MetricsText.values(bridge.get("/metrics").text(), series).sum();
  }

  private static String calls(String outcome) {
    return "mcp_bridge_calls_total{outcome=\"" + outcome + "\",server=\"s\"}";
  }

  @Test
  void callsAreCountedByOutcome() throws Exception {
    double before = value(calls("answered"));
    bridge.call("echo", "{}");
    bridge.call("tool_error", "{}");
    bridge.call("big", "{\"size\":1}");
    bridge.call("never", "{}");
    bridge.call("nothing", "{}");

    assertEquals(before + 2, value(calls("answered")));
    assertEquals(1, value(calls("needs_confirmation")));
    assertEquals(1, value(calls("deadline_exceeded")));
    assertEquals(1, value(calls("tool_not_found")));
    assertEquals(
        value(calls("answered")), value("mcp_bridge_call_duration_seconds_count{server=\"s\"}"));
  }

  @Test
  void callsOfEachToolAreCountedForThoseWhoMayListIt() throws Exception {
    String rules =
        "'auth':{'keys':[%s,%s]},'access':{'rules':[{'name':'all','allow':['call'],"
            + "'who':{'keys':['all']}},{'name':'some','allow':['call'],'who':{'keys':['some']},"
            + "'tools':['!echo']}]},'metrics':{'perTool':true}";
    String all = ApiKeys.generate();
    String some = ApiKeys.generate();
    String keys =
        rules.formatted(
            TestBridge.key("all", all, "'read','call'"),
            TestBridge.key("some", some, "'read','call'"));
    String entry = TestBridge.entry("'tools':{'never':{'timeout':0.3}}");
    try (TestBridge counting = TestBridge.of("{" + keys + ",'mcpServers':{'s':" + entry + "}}")) {
      for (String tool : List.of("echo", "never", "no_such_tool")) {
        counting.post("/servers/s/tools/" + tool, "{}", "x-api-key", all);
      }

      String echo =
          "mcp_bridge_tool_calls_total{outcome=\"answered\",server=\"s\",tool=\"echo\"} 1.0\n";
      String never = "outcome=\"deadline_exceeded\",server=\"s\",tool=\"never\"} 1.0\n";
      String page = counting.get("/metrics", "x-api-key", all).text();
      assertTrue(page.contains(echo), page);
      assertTrue(page.contains(never), page);
      assertFalse(page.contains("no_such_tool"), page);
      String seen = counting.get("/metrics", "x-api-key", some).text();
      assertTrue(seen.contains(never), seen);
      assertFalse(seen.contains("tool=\"echo\""), seen);
    }
  }

  @Test
  void theStateAndProcessesOfAServerAreReported() throws Exception {
    assertLine("mcp_bridge_server_state{server=\"s\",state=\"ready\"} 1.0");
    assertLine("mcp_bridge_server_processes{server=\"s\"} 1.0");
    assertFalse(bridge.get("/metrics").text().contains("cluster"));
  }

  @Test
  void unknownServerNamesDoNotBecomeLabels() throws Exception {
    for (int i = 0; i < 20; i++) {
      bridge.post("/servers/no-such-server" + i + "/tools/x", "{}");
    }

    assertFalse(bridge.get("/metrics").text().contains("no-such-server"));
    assertLine("mcp_bridge_calls_total{outcome=\"server_not_found\",server=\"\"} 20.0");
  }

  @Test
  void theMetricsOfARemovedServerAreRemoved() throws Exception {
    String entry = TestBridge.json(TestBridge.entry("'id':'passing','riskLevel':1"));
    assertEquals(201, bridge.post("/servers", entry).status());
    assertEquals(200, bridge.post("/servers/passing/tools/echo", "{}").status());
    assertLine("mcp_bridge_calls_total{outcome=\"answered\",server=\"passing\"} 1.0");

    assertEquals(200, bridge.delete("/servers/passing").status());

    bridge.until(() -> !bridge.get("/metrics").text().contains("passing"));
  }

  @Test
  void openMetricsIsServedIfAccepted() throws Exception {
    Answer page = bridge.get("/metrics", "accept", "application/openmetrics-text;version=1.0.0");

    assertTrue(page.header("content-type").startsWith("application/openmetrics-text"));
    assertTrue(page.text().endsWith("# EOF\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
        "image/png",
        "*/*"
      })
  void otherMediaTypesAreAnsweredWithPlainText(String accept) throws Exception {
    Answer page = bridge.get("/metrics", "accept", accept);

    assertEquals(200, page.status());
    assertTrue(page.header("content-type").startsWith("text/plain"), page.toString());
  }
}
