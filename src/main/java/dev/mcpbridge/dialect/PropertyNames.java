package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Anthropic takes some names of properties and refuses a request with others. Stateless. */
final class PropertyNames {
  private static final Pattern ALLOWED = Pattern.compile("[a-zA-Z0-9_.-]{1,64}");

  private PropertyNames() {}

  static ObjectNode restricted(ObjectNode schema, ReductionReport reductionReport) {
    SubschemaWalker.each(schema, (place, each) -> restrict(each, place, reductionReport));
    return SchemaReferences.settled(schema, reductionReport);
  }

  private static void restrict(ObjectNode schema, String place, ReductionReport reductionReport) {
    if (schema.path("properties") instanceof ObjectNode properties) {
      List<String> refused = new ArrayList<>();
      properties
          .fieldNames()
          .forEachRemaining(
              name -> {
                if (!ALLOWED.matcher(name).matches()) {
                  refused.add(name);
                }
              });
      refused.forEach(
          name ->
              reductionReport.add(
                  place + "/properties/" + SchemaNormalizer.escaped(name), "a name"));
      properties.remove(refused);
      if (schema.path("required") instanceof ArrayNode required) {
        required.removeIf(name -> refused.contains(name.asText()));
      }
    }
  }
}
