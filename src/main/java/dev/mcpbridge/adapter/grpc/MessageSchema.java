package dev.mcpbridge.adapter.grpc;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.UnknownFieldSet;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Converts the type of a message to the JSON Schema of its JSON form (ProtoJSON). Messages within
 * it are copied to {@code $defs} once, so that a type may contain itself. Used for one schema.
 */
final class MessageSchema {
  /** Beyond this number of fields, further types are described as any object. */
  private static final int MAX_FIELDS = 1_000;

  private static final int MAX_ENUM_VALUES = 500;

  /** {@code google.api.field_behavior} of AIP-203, and its value REQUIRED. */
  private static final int FIELD_BEHAVIOR = 1052;

  private static final long REQUIRED = 2;

  /** ProtoJSON: the types that have a form of their own. */
  private static final Map<String, String> WELL_KNOWN =
      Map.ofEntries(
          Map.entry("Timestamp", "{'type':'string','format':'date-time'}"),
          Map.entry("Duration", "{'type':'string','pattern':'^-?[0-9]+(\\\\.[0-9]{1,9})?s$'}"),
          Map.entry("FieldMask", "{'type':'string'}"),
          Map.entry("Struct", "{'type':'object'}"),
          Map.entry("Value", "{}"),
          Map.entry("ListValue", "{'type':'array'}"),
          Map.entry("Empty", "{'type':'object','additionalProperties':false}"),
          Map.entry(
              "Any",
              "{'type':'object','properties':{'@type':{'type':'string','description':"
                  + "'type.googleapis.com/ and the full name of a message'}}}"),
          Map.entry("DoubleValue", "{'type':['number','string','null']}"),
          Map.entry("FloatValue", "{'type':['number','string','null']}"),
          Map.entry("Int64Value", "{'type':['string','integer','null']}"),
          Map.entry("UInt64Value", "{'type':['string','integer','null']}"),
          Map.entry("Int32Value", "{'type':['integer','null']}"),
          Map.entry("UInt32Value", "{'type':['integer','null']}"),
          Map.entry("BoolValue", "{'type':['boolean','null']}"),
          Map.entry("StringValue", "{'type':['string','null']}"),
          Map.entry("BytesValue", "{'type':['string','null'],'contentEncoding':'base64'}"));

  private static final Set<String> OBJECTS = Set.of("Struct", "Empty", "Any");
  private static final String PACKAGE = "google.protobuf.";

  private final Comments comments;
  private final boolean isResponse;
  private final Set<Descriptor> types = new LinkedHashSet<>();
  private final Queue<Descriptor> pending = new ArrayDeque<>();
  private int fields;

  private MessageSchema(Comments comments, boolean isResponse) {
    this.comments = comments;
    this.isResponse = isResponse;
  }

  /** The schema of requests. */
  static ObjectNode ofRequest(Descriptor type, boolean isStream, Comments comments) {
    MessageSchema schema = new MessageSchema(comments, false);
    return schema.complete(isStream ? schema.list(type) : schema.root(type));
  }

  /** The schema of responses. */
  static ObjectNode ofResponse(Descriptor type, boolean isStream, Comments comments) {
    MessageSchema schema = new MessageSchema(comments, true);
    ObjectNode root = isStream ? schema.list(type) : schema.root(type);
    if (isStream) {
      root.withObject("properties").putObject("truncated").put("type", "boolean");
    }
    return schema.complete(root);
  }

  /** Whether the JSON form of a message is an object; others are the member {@code value}. */
  static boolean isObject(Descriptor type) {
    return !isWellKnown(type) || OBJECTS.contains(type.getName());
  }

  private static boolean isWellKnown(Descriptor type) {
    return type.getFullName().equals(PACKAGE + type.getName())
        && WELL_KNOWN.containsKey(type.getName());
  }

  private ObjectNode root(Descriptor type) {
    if (isObject(type)) {
      return isWellKnown(type) ? wellKnown(type) : object(type);
    }
    ObjectNode root = Json.object().put("type", "object").put("additionalProperties", false);
    root.putObject("properties").set("value", wellKnown(type));
    return root;
  }

  private ObjectNode list(Descriptor type) {
    ObjectNode root = Json.object().put("type", "object").put("additionalProperties", false);
    ObjectNode messages = root.putObject("properties").putObject("messages").put("type", "array");
    messages.set("items", message(type));
    root.putArray("required").add("messages");
    return root;
  }

  private ObjectNode complete(ObjectNode root) {
    if (!pending.isEmpty()) {
      ObjectNode definitions = root.putObject("$defs");
      while (!pending.isEmpty()) {
        Descriptor type = pending.remove();
        definitions.set(type.getFullName(), object(type));
      }
    }
    return root;
  }

  private ObjectNode object(Descriptor type) {
    ObjectNode schema = Json.object().put("type", "object");
    describe(schema, comments.of(type));
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = Json.mapper().createArrayNode();
    for (FieldDescriptor field : type.getFields()) {
      properties.set(field.getJsonName(), field(field));
      if (!isResponse && isRequired(field)) {
        required.add(field.getJsonName());
      }
    }
    if (!required.isEmpty()) {
      schema.set("required", required);
    }
    return schema.put("additionalProperties", false);
  }

  private ObjectNode field(FieldDescriptor field) {
    ObjectNode schema;
    if (field.isMapField()) {
      schema = Json.object().put("type", "object");
      schema.set("additionalProperties", value(field.getMessageType().findFieldByNumber(2)));
    } else if (field.isRepeated()) {
      schema = Json.object().put("type", "array");
      schema.set("items", value(field));
    } else {
      schema = value(field);
    }
    String comment = comments.of(field);
    OneofDescriptor oneof = field.getRealContainingOneof();
    describe(schema, oneof == null ? comment : comment + " " + alternatives(oneof));
    return schema;
  }

  private static String alternatives(OneofDescriptor oneof) {
    return "At most one of "
        + oneof.getFields().stream()
            .map(FieldDescriptor::getJsonName)
            .collect(Collectors.joining(", "))
        + ".";
  }

  private ObjectNode value(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case BOOLEAN -> Json.object().put("type", "boolean");
      case STRING -> Json.object().put("type", "string");
      case BYTE_STRING -> Json.object().put("type", "string").put("contentEncoding", "base64");
      case FLOAT, DOUBLE -> types("number", "string").put("pattern", "^(NaN|-?Infinity)$");
      case LONG -> types("string", "integer").put("pattern", "^-?[0-9]+$");
      case INT -> integer(field);
      case ENUM -> values(field.getEnumType());
      case MESSAGE -> message(field.getMessageType());
    };
  }

  private static ObjectNode integer(FieldDescriptor field) {
    boolean isUnsigned =
        switch (field.getType()) {
          case UINT32, FIXED32 -> true;
          default -> false;
        };
    return Json.object()
        .put("type", "integer")
        .put("minimum", isUnsigned ? 0 : Integer.MIN_VALUE)
        .put("maximum", isUnsigned ? 0xFFFF_FFFFL : Integer.MAX_VALUE);
  }

  /** A response may have a number that the descriptor does not know. */
  private ObjectNode values(EnumDescriptor type) {
    if (type.getFullName().equals(PACKAGE + "NullValue")) {
      return Json.object().put("type", "null");
    }
    ObjectNode names = Json.object().put("type", "string");
    if (type.getValues().size() <= MAX_ENUM_VALUES) {
      ArrayNode list = names.putArray("enum");
      type.getValues().forEach(value -> list.add(value.getName()));
    }
    describe(names, comments.of(type));
    if (!isResponse) {
      return names;
    }
    ObjectNode schema = Json.object();
    schema.putArray("anyOf").add(names).add(Json.object().put("type", "integer"));
    return schema;
  }

  private ObjectNode message(Descriptor type) {
    if (isWellKnown(type)) {
      return wellKnown(type);
    }
    if (fields > MAX_FIELDS && !types.contains(type)) {
      return Json.object().put("type", "object").put("description", type.getFullName());
    }
    if (types.add(type)) {
      fields += type.getFields().size();
      pending.add(type);
    }
    return Json.object().put("$ref", "#/$defs/" + type.getFullName());
  }

  private static ObjectNode wellKnown(Descriptor type) {
    return (ObjectNode) Json.parsed(WELL_KNOWN.get(type.getName()).replace('\'', '"'));
  }

  private static ObjectNode types(String first, String second) {
    ObjectNode schema = Json.object();
    schema.putArray("type").add(first).add(second);
    return schema;
  }

  private static void describe(ObjectNode schema, String text) {
    if (!text.isBlank()) {
      schema.put("description", text.strip());
    }
  }

  /** Fields of proto2 and editions may be required; AIP-203 has an annotation for the others. */
  static boolean isRequired(FieldDescriptor field) {
    UnknownFieldSet.Field behavior = field.getOptions().getUnknownFields().getField(FIELD_BEHAVIOR);
    return field.isRequired()
        || behavior.getVarintList().contains(REQUIRED)
        || behavior.getLengthDelimitedList().stream().anyMatch(MessageSchema::hasRequired);
  }

  /** In a packed list, each value is one byte. */
  private static boolean hasRequired(ByteString packed) {
    return IntStream.range(0, packed.size()).anyMatch(i -> packed.byteAt(i) == REQUIRED);
  }
}
