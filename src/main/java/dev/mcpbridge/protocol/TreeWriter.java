package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Map;

/**
 * Writes a tree on one line as Jackson's mapper would, without loading the mapper. Missing nodes
 * are written as null.
 */
final class TreeWriter {
  private TreeWriter() {}

  static void write(JsonNode node, JsonGenerator out) throws IOException {
    switch (node.getNodeType()) {
      case OBJECT -> {
        out.writeStartObject();
        for (Map.Entry<String, JsonNode> member : node.properties()) {
          out.writeFieldName(member.getKey());
          write(member.getValue(), out);
        }
        out.writeEndObject();
      }
      case ARRAY -> {
        out.writeStartArray();
        for (JsonNode element : node) {
          write(element, out);
        }
        out.writeEndArray();
      }
      case STRING -> out.writeString(node.textValue());
      case NUMBER -> number(node, out);
      case BOOLEAN -> out.writeBoolean(node.booleanValue());
      case NULL, MISSING -> out.writeNull();
      default -> throw new IllegalArgumentException("not a JSON node: " + node.getNodeType());
    }
  }

  private static void number(JsonNode node, JsonGenerator out) throws IOException {
    switch (node.numberType()) {
      case INT -> out.writeNumber(node.intValue());
      case LONG -> out.writeNumber(node.longValue());
      case BIG_INTEGER -> out.writeNumber(node.bigIntegerValue());
      case FLOAT -> out.writeNumber(node.floatValue());
      case DOUBLE -> out.writeNumber(node.doubleValue());
      case BIG_DECIMAL -> out.writeNumber(node.decimalValue());
    }
  }
}
