package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Removes properties whose names Anthropic rejects. Stateless. */
final class PropertyNames {
  private static final Pattern ALLOWED = Pattern.compile("[a-zA-Z0-9_.-]{1,64}");

  private PropertyNames() {}

  static ObjectNode removeInvalid(ObjectNode schema, ReductionReport reductionReport) {
    SubschemaWalker.each(schema, (pointer, each) -> restrict(each, pointer, reductionReport));
    return SchemaReferences.removeDangling(schema, reductionReport);
  }

  private static void restrict(ObjectNode schema, String pointer, ReductionReport reductionReport) {
    if (schema.path("properties") instanceof ObjectNode properties) {
      List<String> rejected = new ArrayList<>();
      properties
          .fieldNames()
          .forEachRemaining(
              name -> {
                if (!ALLOWED.matcher(name).matches()) {
                  rejected.add(name);
                }
              });
      rejected.forEach(
          name ->
              reductionReport.add(
                  pointer + "/properties/" + SchemaNormalizer.escaped(name),
                  "invalid property name"));
      properties.remove(rejected);
      if (schema.path("required") instanceof ArrayNode required) {
        required.removeIf(name -> rejected.contains(name.asText()));
      }
    }
  }
}
