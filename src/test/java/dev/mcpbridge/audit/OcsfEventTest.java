package dev.mcpbridge.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a record becomes in the terms of the Open Cybersecurity Schema Framework. */
class OcsfEventTest {
  /** The objects that the classes of OCSF 1.3 require, besides {@code metadata}. */
  private static final Map<Integer, List<String>> REQUIRED =
      Map.of(
          3002, List.of("user", "service", "metadata"),
          6002, List.of("app", "metadata"),
          6003, List.of("actor", "api", "src_endpoint", "metadata"));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'event':'call.decision','kind':'tool','decision':'allow'   | 600399 | 1 | 1
          'event':'call.decision','kind':'tool','decision':'refuse'  | 600399 | 2 | 2
          'event':'call.decision','kind':'prompt','decision':'allow' | 600302 | 1 | 1
          'event':'call.outcome','kind':'tool','outcome':'completed' | 600399 | 1 | 0
          'event':'call.outcome','kind':'tool','outcome':'failed'    | 600399 | 2 | 0
          'event':'confirmation','decision':'expire'                 | 600399 | 2 | 2
          'event':'consent','outcome':'granted'                      | 600399 | 1 | 0
          'event':'consent','outcome':'refused'                      | 600399 | 2 | 2
          'event':'consent','outcome':'wrong_user'                   | 600399 | 2 | 2
          'event':'audit.read'                                       | 600302 | 1 | 0
          'event':'credential','refused':3                           | 300201 | 2 | 2
          'event':'bridge','state':'started'                         | 600203 | 1 | 0
          'event':'bridge','state':'stopped'                         | 600204 | 1 | 0
          'event':'server','state':'failed'                          | 600299 | 2 | 0
          """,
      quoteCharacter = '`')
  void recordHasItsTypeStatusAndAction(String members, int type, int status, int action)
      throws Exception {
    String line =
        ("{'seq':1,'at':'2026-01-01T00:00:00Z'," + members + ",'n':1E5}").replace('\'', '"');
    JsonSlice text = JsonSlice.of(line);

    JsonNode event = Json.tree(OcsfEvent.of(new AuditReader.Line(Json.tree(text), 7, 0, text)));

    assertEquals(type, event.path("type_uid").asInt());
    assertEquals(status, event.path("status_id").asInt());
    assertEquals(action, event.path("action_id").asInt());
    assertEquals(7, event.path("time").asLong());
    assertEquals(line, event.path("raw_data").asText());
    for (String required : REQUIRED.get(event.path("class_uid").asInt())) {
      assertTrue(event.path(required).isObject(), required + " " + event);
    }
  }
}
