package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics, the alerts and the dashboard, as Prometheus reads them. */
@Tag("program")
class PrometheusIT {
  private static final Path DEPLOY = Path.of("src/deploy");
  private static final Pattern METRIC = Pattern.compile("\\b((?:mcp_bridge|jvm|process)_\\w+)");

  @TempDir private Path folder;
  private SpanReceiver collector;
  private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    collector = new SpanReceiver();
    bridge =
        TestBridge.of(
                "{"
                    + collector.everything()
                    + ",'audit':{'folder':'"
                    + folder.resolve("audit")
                    + "'},'pins':{'file':'"
                    + folder.resolve("bridge.lock.json")
                    + "'},'mcpServers':{'s':"
                    + TestBridge.entry(
                        "'pins':{'changed':'warn','new':'warn'},'risk':{'tools':{'big':2}}")
                    + "}}")
            .awaitReady("s");
  }

  @AfterEach
  void stop() throws Exception {
    bridge.close();
    collector.close();
  }

  /** The output of a program with an input; fails if its exit status is not 0. */
  private String run(String input, String... command) throws Exception {
    Path file = Files.writeString(folder.resolve("input"), input);
    Process process =
        new ProcessBuilder(command)
            .redirectInput(file.toFile())
            .redirectErrorStream(true)
            .directory(folder.toFile())
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(20, TimeUnit.SECONDS), output);
    assertEquals(0, process.exitValue(), output);
    return output;
  }

  private void work() throws Exception {
    for (int i = 0; i < 20; i++) {
      assertEquals(200, bridge.call("echo", "{}").status());
    }
    Answer held = bridge.call("big", "{\"size\":1}");
    bridge.post(
        "/confirmations/" + held.at("/confirmation_id"),
        "{\"confirm\":true,\"token\":\"" + held.at("/token") + "\"}");
    bridge.call("no_such_tool", "{}");
  }

  @Test
  void thePageIsAsPromtoolWantsIt() throws Exception {
    String promtool = Requirements.program("promtool");
    work();

    String page = bridge.get("/metrics").text();

    String complaints = run(page, promtool, "check", "metrics");
    assertEquals(List.of(), complaints.lines().filter(l -> l.contains("mcp_bridge")).toList());
    assertTrue(page.contains("mcp_bridge_gate_total{level=\"1\",verdict=\"allow\"} 20.0"), page);
    assertTrue(page.contains("mcp_bridge_gate_total{level=\"2\",verdict=\"confirm\"} 1.0"), page);
    assertTrue(page.contains("mcp_bridge_gate_total{level=\"\",verdict=\"refuse\"} 1.0"), page);
    assertTrue(page.contains("mcp_bridge_approvals_total{decision=\"approved\"} 1.0"), page);
    assertTrue(page.contains("mcp_bridge_approvals_pending 0.0"), page);
    assertTrue(page.contains("mcp_bridge_approval_wait_seconds_count 1"), page);
    assertTrue(page.contains("mcp_bridge_build_info{"), page);
    assertTrue(page.contains("process_cpu_seconds_total "), page);
  }

  @Test
  void everyExpressionOfTheAlertsAndTheDashboardIsValidAndNamesMetricsThatExist() throws Exception {
    String promtool = Requirements.program("promtool");
    work();
    Set<String> known = new TreeSet<>(names(bridge.get("/metrics").text()));
    known.addAll(Set.of("mcp_bridge_cluster_members", "mcp_bridge_cluster_member"));
    known.addAll(Set.of("mcp_bridge_cluster_moves_total"));
    String alerts = Files.readString(DEPLOY.resolve("prometheus/alerts.yaml"));

    List<String> expressions = expressions();
    run("", promtool, "check", "rules", DEPLOY.toAbsolutePath() + "/prometheus/alerts.yaml");
    run("", promtool, "check", "rules", asRules(expressions).toString());

    assertTrue(expressions.size() > 15, expressions.toString());
    Set<String> used = new TreeSet<>(names(alerts + String.join(" ", expressions)));
    used.removeAll(known);
    assertEquals(Set.of(), used);
  }

  private static List<String> names(String text) {
    return METRIC.matcher(text).results().map(MatchResult::group).distinct().toList();
  }

  private static List<String> expressions() throws Exception {
    List<String> expressions = new ArrayList<>();
    for (JsonNode panel :
        Json.tree(Files.readAllBytes(DEPLOY.resolve("grafana/mcp-bridge.json"))).path("panels")) {
      panel.path("targets").forEach(target -> expressions.add(target.path("expr").asText()));
    }
    return expressions;
  }

  /** JSON is YAML, too. */
  private Path asRules(List<String> expressions) throws Exception {
    var rules = Json.object();
    var group = rules.putArray("groups").addObject().put("name", "dashboard");
    var list = group.putArray("rules");
    for (String expression : expressions) {
      list.addObject()
          .put("record", "panel:number" + list.size())
          .put("expr", expression.replace("$__rate_interval", "5m").replaceAll("\\$\\w+", ".*"));
    }
    return Files.writeString(folder.resolve("dashboard.yaml"), rules.toString());
  }

  @Test
  void prometheusScrapesABridgeUnderLoadWithTheTracesOfItsCalls() throws Exception {
    // Given
    String program = Requirements.program("prometheus");
    int port = FreePorts.find(1).get(0);
    Path config =
        Files.writeString(
            folder.resolve("prometheus.yaml"),
            """
            {"global":{"scrape_interval":"1s"},
             "rule_files":["%s"],
             "scrape_configs":[{"job_name":"bridge","static_configs":[{"targets":["%s"]}]}]}"""
                .formatted(
                    DEPLOY.toAbsolutePath().resolve("prometheus/alerts.yaml"),
                    bridge.uri("/").getAuthority()));
    Process prometheus =
        new ProcessBuilder(
                program,
                "--config.file=" + config,
                "--storage.tsdb.path=" + folder.resolve("tsdb"),
                "--enable-feature=exemplar-storage",
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("prometheus.log").toFile())
            .start();
    try {
      bridge.until(() -> isReady(port));

      // When
      Instant begin = Instant.now();
      bridge.until(
          () -> {
            work();
            return ask(port, "query?query=" + encoded("mcp_bridge_gate_total{verdict=\"allow\"}"))
                    .at("/data/result/0/value/1")
                    .asDouble()
                > 20;
          });

      // Then
      JsonNode exemplars =
          ask(
              port,
              "query_exemplars?query=mcp_bridge_call_duration_seconds_bucket&start="
                  + begin.getEpochSecond()
                  + "&end="
                  + (Instant.now().getEpochSecond() + 5));
      String trace = exemplars.at("/data/0/exemplars/0/labels/trace_id").asText();
      assertTrue(trace.matches("[0-9a-f]{32}"), exemplars.toString());
      assertEquals("up", ask(port, "targets").at("/data/activeTargets/0/health").asText());
      JsonNode rules = ask(port, "rules").at("/data/groups/0/rules");
      assertTrue(rules.size() > 8, rules.toString());
    } finally {
      prometheus.destroy();
      prometheus.waitFor();
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** It listens some time before it answers queries. */
  private static boolean isReady(int port) throws Exception {
    try {
      return get(port, "/-/ready").statusCode() == 200;
    } catch (ConnectException starting) {
      return false;
    }
  }

  private static JsonNode ask(int port, String path) throws Exception {
    HttpResponse<String> response = get(port, "/api/v1/" + path);
    assertEquals(200, response.statusCode(), response.body());
    return Json.mapper().readTree(response.body());
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }
}
