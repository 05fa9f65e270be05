package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RestartKeysTest {

  /** A new key of the schema is added here, or marked with {@code reload} there. */
  private static final List<String> NEED_A_RESTART =
      List.of(
          "agent.baseUrl",
          "agent.key",
          "agent.maxTokens",
          "agent.model",
          "agent.provider",
          "agent.roles",
          "agent.timeout",
          "agent.turns",
          "audit.arguments",
          "audit.folder",
          "audit.keep",
          "audit.maxBytes",
          "audit.onFailure",
          "audit.segmentBytes",
          "audit.strict",
          "cluster.folder",
          "cluster.host",
          "cluster.labels",
          "cluster.lease",
          "cluster.members",
          "cluster.name",
          "cluster.node",
          "cluster.port",
          "cluster.reload",
          "cluster.secret",
          "cluster.tls.ca",
          "cluster.tls.cert",
          "cluster.tls.key",
          "cluster.zookeeper",
          "credentials.file",
          "credentials.idle",
          "credentials.keys",
          "http.host",
          "http.maxSessions",
          "http.console",
          "http.openHealth",
          "http.port",
          "http.sessionIdle",
          "http.tls.cert",
          "http.tls.key",
          "limits.bodyBytes",
          "limits.depth",
          "limits.heldBytes",
          "limits.messageBytes",
          "metrics.perTool",
          "pins.file",
          "sandbox.engine",
          "telemetry.maxSampledPerSecond",
          "telemetry.otlp.endpoint",
          "telemetry.otlp.headers",
          "telemetry.sample",
          "threads.servers",
          "validation.onBudget",
          "validation.steps",
          "validation.time",
          "webhooks");

  @Test
  void everyKeyIsEitherAppliedOrNeedsARestart() throws Exception {
    Set<String> named = new TreeSet<>();
    for (String key : keys()) {
      named.addAll(RestartKeys.changed("{}", with(key)));
      named.addAll(RestartKeys.changed(with(key), "{}"));
    }

    assertEquals(new TreeSet<>(NEED_A_RESTART), named);
  }

  @Test
  void exactlyTheChangedKeysAreNamed() {
    assertEquals(
        List.of("http.port", "limits.bodyBytes", "limits.depth"),
        RestartKeys.changed(
            "{\"http\":{\"port\":1,\"host\":\"h\"},\"risk\":{\"expiry\":1},"
                + "\"limits\":{\"depth\":5,\"bodyBytes\":2000}}",
            "{\"http\":{\"port\":2,\"host\":\"h\",\"tls\":{}},\"risk\":{\"expiry\":2},"
                + "\"limits\":{\"depth\":6},\"cluster\":null,\"globalShortcut\":\"x\"}"));
  }

  private static String with(String key) {
    ObjectNode root = Json.object();
    ObjectNode section = root;
    String[] names = key.split("\\.");
    for (int i = 0; i < names.length - 1; i++) {
      section = section.putObject(names[i]);
    }
    section.put(names[names.length - 1], "other");
    return root.toString();
  }

  private static Set<String> keys() throws Exception {
    Set<String> keys = new TreeSet<>();
    collect("", Json.mapper().readTree(Files.readString(Path.of("conf/bridge.schema.json"))), keys);
    return keys;
  }

  private static void collect(String path, JsonNode schema, Set<String> keys) {
    if (!schema.has("properties")) {
      keys.add(path);
      return;
    }
    schema
        .get("properties")
        .properties()
        .forEach(
            property ->
                collect(
                    path.isEmpty() ? property.getKey() : path + "." + property.getKey(),
                    property.getValue(),
                    keys));
  }
}
