package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.Set;

/**
 * A record as an event of the Open Cybersecurity Schema Framework 1.3. Calls and decisions about
 * them are API activity (6003), refused credentials are authentication (3002), and what concerns
 * the bridge and its servers is application lifecycle (6002). The line of the record is in {@code
 * raw_data}, so that its hash can be verified. Stateless.
 */
public final class OcsfEvent {
  private static final int AUTHENTICATION = 3002;
  private static final int LIFECYCLE = 6002;
  private static final int API_ACTIVITY = 6003;
  private static final int OTHER = 99;

  private static final String PRODUCT = "MCP Bridge";

  /** Where an object is required of which the trail knows nothing. */
  private static final String UNKNOWN = "unknown";

  private OcsfEvent() {}

  /** The event in JSON. */
  public static String of(AuditReader.Line line) {
    JsonNode record = line.record();
    String event = record.path("event").asText();
    int type = type(event);
    int activity = activity(event, record);
    ObjectNode ocsf =
        Json.object()
            .put("class_uid", type)
            .put("category_uid", type / 1000)
            .put("activity_id", activity)
            .put("type_uid", type * 100 + activity)
            .put("time", line.atMillis());
    if (activity == OTHER) {
      ocsf.put("activity_name", event);
    }
    addOutcome(ocsf, record);
    addMetadata(ocsf.putObject("metadata"), record);
    addActor(ocsf, record);
    switch (type) {
      case API_ACTIVITY -> addApi(ocsf.putObject("api"), record);
      case AUTHENTICATION -> {
        ocsf.putObject("service").put("name", PRODUCT);
        JsonNode user = ocsf.at("/actor/user");
        ocsf.set("user", user.isObject() ? user : Json.object().put("name", UNKNOWN));
      }
      default -> ocsf.putObject("app").put("name", PRODUCT);
    }
    if (record.has("address")) {
      ocsf.putObject("src_endpoint").put("ip", record.path("address").asText());
    } else if (type == API_ACTIVITY) {
      ocsf.putObject("src_endpoint").put("name", UNKNOWN);
    }
    return ocsf.put("raw_data", line.text().text()).toString();
  }

  private static int type(String event) {
    return switch (event) {
      case "call.decision",
          "call.outcome",
          "subscription",
          "confirmation",
          "consent",
          "pin",
          "audit.read",
          "request" ->
          API_ACTIVITY;
      case "credential", "login", "logout" -> AUTHENTICATION;
      default -> LIFECYCLE;
    };
  }

  private static int activity(String event, JsonNode record) {
    return switch (event) {
      case "call.decision", "call.outcome" ->
          record.path("kind").asText().equals("tool") ? OTHER : 2;
      case "audit.read" -> 2;
      case "credential", "login" -> 1;
      case "logout" -> 2;
      case "bridge" -> record.path("state").asText().equals("started") ? 3 : 4;
      default -> OTHER;
    };
  }

  /** Status: 1 success, 2 failure. Severity: 1 informational, 3 medium. */
  private static void addOutcome(ObjectNode ocsf, JsonNode record) {
    String decision = record.path("decision").asText();
    String outcome = record.path("outcome").asText();
    boolean isDenied =
        Set.of("refuse", "reject", "block", "expire").contains(decision)
            || Set.of("refused", "wrong_user").contains(outcome)
            || record.has("refused");
    boolean isFailed =
        isDenied
            || Set.of("failed", "tool_error").contains(outcome)
            || record.path("state").asText().equals("failed");
    ocsf.put("severity_id", isFailed ? 3 : 1).put("status_id", isFailed ? 2 : 1);
    if (record.has("code")) {
      ocsf.put("status_code", record.path("code").asText());
    }
    if (!decision.isEmpty() || isDenied) {
      ocsf.put("action_id", isDenied ? 2 : 1);
    }
  }

  private static void addMetadata(ObjectNode metadata, JsonNode record) {
    metadata.put("version", "1.3.0").put("sequence", record.path("seq").asLong());
    metadata.put("uid", record.path("hash").asText());
    if (record.has("call")) {
      metadata.put("correlation_uid", record.path("call").asText());
    }
    metadata.putObject("product").put("name", PRODUCT).put("vendor_name", PRODUCT);
  }

  private static void addActor(ObjectNode ocsf, JsonNode record) {
    ObjectNode actor = ocsf.putObject("actor").put("app_name", PRODUCT);
    String by = record.path("approver").asText(record.path("principal").asText(null));
    if (by == null) {
      return;
    }
    ObjectNode user = actor.putObject("user").put("name", by).put("uid", by);
    record
        .path("roles")
        .forEach(role -> user.withArray("groups").addObject().put("name", role.asText()));
    if (record.has("decision")) {
      ObjectNode authorization =
          actor
              .putArray("authorizations")
              .addObject()
              .put("decision", record.path("decision").asText());
      if (record.has("rule")) {
        authorization.putObject("policy").put("name", record.path("rule").asText());
      }
    }
  }

  private static void addApi(ObjectNode api, JsonNode record) {
    api.put("operation", record.path("name").asText(record.path("event").asText()));
    if (record.has("server")) {
      api.putObject("service").put("name", record.path("server").asText());
    }
    if (record.has("call")) {
      api.putObject("request").put("uid", record.path("call").asText());
    }
    if (record.has("code")) {
      api.putObject("response").put("error", record.path("code").asText());
    }
  }
}
