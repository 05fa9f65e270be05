package dev.mcpbridge.adapter.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.StringValue;
import com.google.protobuf.TextFormat;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UnknownFieldSet;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Types of messages as schemas, and their JSON form. */
class MessageSchemaTest {
  private static final String FILE =
      """
      name: "t.proto" package: "t" syntax: "proto3"
      dependency: "google/protobuf/timestamp.proto"
      dependency: "google/protobuf/duration.proto"
      dependency: "google/protobuf/wrappers.proto"
      dependency: "google/protobuf/struct.proto"
      dependency: "google/protobuf/any.proto"
      dependency: "google/protobuf/empty.proto"
      enum_type { name: "Color" value { name: "RED" number: 0 } value { name: "BLUE" number: 1 } }
      message_type {
        name: "All"
        oneof_decl { name: "choice" }
        field { name: "an_int" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "anInt" }
        field { name: "u" number: 2 type: TYPE_UINT32 label: LABEL_OPTIONAL }
        field { name: "long" number: 3 type: TYPE_INT64 label: LABEL_OPTIONAL }
        field { name: "d" number: 4 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
        field { name: "bytes" number: 5 type: TYPE_BYTES label: LABEL_OPTIONAL }
        field { name: "color" number: 6 type: TYPE_ENUM type_name: ".t.Color" label: LABEL_OPTIONAL }
        field { name: "tags" number: 7 type: TYPE_STRING label: LABEL_REPEATED }
        field { name: "self" number: 8 type: TYPE_MESSAGE type_name: ".t.All" label: LABEL_OPTIONAL }
        field { name: "map" number: 9 type: TYPE_MESSAGE type_name: ".t.All.MapEntry" label: LABEL_REPEATED }
        field { name: "a" number: 10 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "b" number: 11 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "at" number: 12 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
        field { name: "took" number: 13 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL }
        field { name: "maybe" number: 14 type: TYPE_MESSAGE type_name: ".google.protobuf.Int64Value" label: LABEL_OPTIONAL }
        field { name: "free" number: 15 type: TYPE_MESSAGE type_name: ".google.protobuf.Struct" label: LABEL_OPTIONAL }
        field { name: "any" number: 16 type: TYPE_MESSAGE type_name: ".google.protobuf.Any" label: LABEL_OPTIONAL }
        nested_type {
          name: "MapEntry" options { map_entry: true }
          field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
          field { name: "value" number: 2 type: TYPE_BOOL label: LABEL_OPTIONAL }
        }
      }
      message_type {
        name: "Needs"
        field { name: "must" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
        field { name: "may" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
        field { name: "packed" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL }
      }
      source_code_info {
        location { path: 4 path: 0 span: 0 span: 0 span: 0 leading_comments: " Everything. " }
        location { path: 4 path: 0 path: 2 path: 1 span: 0 span: 0 span: 0 leading_comments: " Never negative." }
      }
      """;

  private Collection<FileDescriptor> files;
  private Comments comments;

  @BeforeEach
  void link() throws Exception {
    FileDescriptorProto.Builder builder = parsed(FILE).toBuilder();
    DescriptorProto.Builder needs = builder.getMessageTypeBuilder(1);
    annotate(needs, 0, UnknownFieldSet.Field.newBuilder().addVarint(2).build());
    annotate(needs, 1, UnknownFieldSet.Field.newBuilder().addVarint(1).build());
    ByteString packed = ByteString.copyFrom(new byte[] {1, 2});
    annotate(needs, 2, UnknownFieldSet.Field.newBuilder().addLengthDelimited(packed).build());
    FileDescriptorProto file = builder.build();
    files = LinkedFiles.of(List.of(file), new HashMap<>());
    comments = new Comments(List.of(file));
  }

  private static FileDescriptorProto parsed(String text) throws Exception {
    FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder();
    TextFormat.merge(text, file);
    return file.build();
  }

  /** The option {@code google.api.field_behavior}, which is an unknown field for the bridge. */
  private static void annotate(
      DescriptorProto.Builder message, int field, UnknownFieldSet.Field behavior) {
    UnknownFieldSet options = UnknownFieldSet.newBuilder().addField(1052, behavior).build();
    message.getFieldBuilder(field).getOptionsBuilder().setUnknownFields(options);
  }

  private Descriptor type(String name) {
    return files.stream()
        .map(file -> file.findMessageTypeByName(name))
        .filter(type -> type != null)
        .findFirst()
        .orElseThrow();
  }

  private JsonNode property(String name) {
    return MessageSchema.ofRequest(type("All"), false, comments).path("properties").path(name);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "anInt@{'type':'integer','minimum':-2147483648,'maximum':2147483647}",
        "u@{'type':'integer','minimum':0,'maximum':4294967295,'description':'Never negative.'}",
        "long@{'type':['string','integer'],'pattern':'^-?[0-9]+$'}",
        "d@{'type':['number','string'],'pattern':'^(NaN|-?Infinity)$'}",
        "bytes@{'type':'string','contentEncoding':'base64'}",
        "color@{'type':'string','enum':['RED','BLUE']}",
        "tags@{'type':'array','items':{'type':'string'}}",
        "self@{'$ref':'#/$defs/t.All'}",
        "map@{'type':'object','additionalProperties':{'type':'boolean'}}",
        "a@{'type':'string','description':'At most one of a, b.'}",
        "at@{'type':'string','format':'date-time'}",
        "took@{'type':'string','pattern':'^-?[0-9]+(\\\\.[0-9]{1,9})?s$'}",
        "maybe@{'type':['string','integer','null']}",
        "free@{'type':'object'}"
      })
  void eachTypeHasTheSchemaOfItsJsonForm(String name, String schema) {
    assertEquals(schema.replace('\'', '"'), property(name).toString());
  }

  @Test
  void typeThatContainsItselfIsDefinedOnce() {
    JsonNode schema = MessageSchema.ofRequest(type("All"), false, comments);

    assertEquals("Everything.", schema.path("description").asText());
    assertEquals(1, schema.path("$defs").size());
    assertEquals(
        "#/$defs/t.All", schema.path("$defs").path("t.All").at("/properties/self/$ref").asText());
  }

  @Test
  void unknownValueOfAResponseIsANumber() {
    JsonNode schema = MessageSchema.ofResponse(type("All"), false, comments);

    assertEquals("integer", schema.at("/properties/color/anyOf/1/type").asText());
  }

  private MessageJson json() {
    return new MessageJson(MessageTypes.of(files));
  }

  private String roundTrip(String text) {
    byte[] bytes = json().requests(type("All"), false, JsonSlice.of(text)).get(0);
    return json().response(type("All"), bytes, 100_000).text();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"long\":\"9007199254740993\"",
        "\"d\":\"NaN\"",
        "\"d\":\"-Infinity\"",
        "\"bytes\":\"AP8=\"",
        "\"color\":\"BLUE\"",
        "\"map\":{\"7\":true}",
        "\"at\":\"2026-11-26T00:00:00Z\"",
        "\"took\":\"1.500s\"",
        "\"maybe\":\"5\"",
        "\"free\":{\"x\":[1.0,null]}",
        "\"a\":\"\"",
        "\"any\":{\"@type\":\"type.googleapis.com/t.Needs\",\"must\":\"x\",\"may\":\"\",\"packed\":\"\"}"
      })
  void valuesSurviveTheWayThereAndBack(String member) {
    String back = roundTrip("{" + member + "}");

    assertTrue(back.contains(member), back);
  }

  @Test
  void fieldsWithoutPresenceAreAlwaysPrinted() {
    String back = roundTrip("{}");

    assertTrue(back.contains("\"anInt\":0"), back);
    assertTrue(back.contains("\"tags\":[]"), back);
    assertFalse(back.contains("\"self\""), back);
    assertFalse(back.contains("\"a\""), back);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"nope\":1}",
        "{\"a\":\"1\",\"b\":\"2\"}",
        "{\"u\":-1}",
        "{\"long\":\"x\"}",
        "{\"color\":\"GREEN\"}",
        "{\"at\":\"yesterday\"}",
        "{\"any\":{\"@type\":\"type.googleapis.com/t.Unknown\"}}",
        "[]"
      })
  void argumentsThatDoNotFitAreRefused(String arguments) {
    BridgeException refused = assertThrows(BridgeException.class, () -> roundTrip(arguments));

    assertEquals(ErrorCode.INVALID_ARGUMENTS, refused.code());
  }

  @Test
  void bothAlphabetsOfBase64AreRead() {
    byte[] standard =
        json().requests(type("All"), false, JsonSlice.of("{\"bytes\":\"+/8=\"}")).get(0);
    byte[] url = json().requests(type("All"), false, JsonSlice.of("{\"bytes\":\"-_8\"}")).get(0);

    assertArrayEquals(standard, url);
  }

  @Test
  void deeplyNestedArgumentsAreRefused() {
    String deep = "{\"self\":".repeat(500) + "{}" + "}".repeat(500);

    assertThrows(BridgeException.class, () -> roundTrip(deep));
  }

  @Test
  void messagesOfAStreamAreEachConverted() {
    List<byte[]> messages =
        json().requests(type("All"), true, JsonSlice.of("{\"messages\":[{\"u\":1},{\"u\":2}]}"));

    assertEquals(2, messages.size());
    assertThrows(
        BridgeException.class,
        () -> json().requests(type("All"), true, JsonSlice.of("{\"messages\":7}")));
  }

  @Test
  void annotatedFieldsAreRequired() {
    assertTrue(MessageSchema.isRequired(type("Needs").findFieldByName("must")));
    assertTrue(MessageSchema.isRequired(type("Needs").findFieldByName("packed")));
    assertFalse(MessageSchema.isRequired(type("Needs").findFieldByName("may")));
  }

  @Test
  void filesWithMissingAndCircularImportsAreLeftOutWithAReason() throws Exception {
    Map<String, String> problems = new HashMap<>();

    Collection<FileDescriptor> linked =
        LinkedFiles.of(
            List.of(
                parsed("name: 'good'"),
                parsed("name: 'lonely' dependency: 'gone.proto'"),
                parsed("name: 'a' dependency: 'b'"),
                parsed("name: 'b' dependency: 'a'")),
            problems);

    assertEquals(List.of("good"), linked.stream().map(FileDescriptor::getName).toList());
    assertTrue(problems.get("lonely").contains("gone.proto"), problems.toString());
    assertTrue(problems.get("a").contains("circle"), problems.toString());
  }

  @Test
  void longChainOfImportsIsLinked() throws Exception {
    List<FileDescriptorProto> chain = new ArrayList<>();
    for (int i = 0; i < Reflection.MAX_FILES; i++) {
      chain.add(parsed("name: 'f" + i + "' dependency: 'f" + (i + 1) + "'"));
    }
    chain.add(parsed("name: 'f" + Reflection.MAX_FILES + "'"));

    assertEquals(chain.size(), LinkedFiles.of(chain, new HashMap<>()).size());
  }

  @Test
  void jsonThatIsLongerThanItsBoundIsRefused() {
    byte[] bytes =
        json()
            .requests(type("All"), false, JsonSlice.of("{\"tags\":[\"" + "x".repeat(500) + "\"]}"))
            .get(0);

    BridgeException refused =
        assertThrows(BridgeException.class, () -> json().response(type("All"), bytes, 300));
    assertEquals(ErrorCode.RESPONSE_TOO_LARGE, refused.code());
  }

  @Test
  void messagesWithinAnyNestToABoundOnly() {
    Any nested = Any.pack(StringValue.of("x"));
    for (int i = 0; i < 1_000; i++) {
      nested = Any.pack(nested);
    }
    byte[] bytes = nested.toByteArray();

    BridgeException refused =
        assertThrows(
            BridgeException.class, () -> json().response(Any.getDescriptor(), bytes, 1 << 20));
    assertEquals(ErrorCode.RESPONSE_TOO_LARGE, refused.code());
  }

  @Test
  void valueThatHasNoJsonFormIsAFaultOfTheServer() {
    byte[] bytes = Timestamp.newBuilder().setSeconds(Long.MAX_VALUE).build().toByteArray();

    BridgeException refused =
        assertThrows(
            BridgeException.class, () -> json().response(Timestamp.getDescriptor(), bytes, 1_000));
    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, refused.code());
  }

  @Test
  void messageWhoseJsonIsNoObjectIsTheMemberValue() {
    Descriptor text = StringValue.getDescriptor();
    JsonNode schema = MessageSchema.ofRequest(text, false, comments);

    assertEquals("string", schema.at("/properties/value/type/0").asText());
    assertArrayEquals(
        StringValue.of("x").toByteArray(),
        json().requests(text, false, JsonSlice.of("{\"value\":\"x\"}")).get(0));
    assertEquals(0, json().requests(text, false, JsonSlice.of("{\"value\":null}")).get(0).length);
    assertEquals(0, json().requests(text, false, JsonSlice.of("{}")).get(0).length);
  }

  @Test
  void schemaOfALargeTypeIsBounded() throws Exception {
    StringBuilder file = new StringBuilder("name: 'big' package: 'big' syntax: 'proto3' ");
    for (int type = 0; type < 200; type++) {
      file.append("message_type { name: 'T").append(type).append("' ");
      for (int field = 1; field <= 50; field++) {
        file.append("field { name: 'f" + field + "' number: " + field + " label: LABEL_OPTIONAL ")
            .append("type: TYPE_MESSAGE type_name: '.big.T" + (type + field) % 200 + "' } ");
      }
      file.append("} ");
    }
    FileDescriptor big =
        LinkedFiles.of(List.of(parsed(file.toString())), new HashMap<>()).iterator().next();

    JsonNode schema =
        MessageSchema.ofRequest(big.findMessageTypeByName("T0"), false, new Comments(List.of()));

    assertTrue(schema.path("$defs").size() < 60, schema.path("$defs").size() + " types");
    assertTrue(schema.toString().length() < 300_000);
  }

  @Test
  void detailsOfAnErrorAreJson() throws Exception {
    Any detail =
        Any.pack(
            com.google.rpc.BadRequest.newBuilder()
                .addFieldViolations(
                    com.google.rpc.BadRequest.FieldViolation.newBuilder()
                        .setField("name")
                        .setDescription("too short"))
                .build());
    GrpcStatus status = new GrpcStatus(3, "no", List.of(detail.toByteArray()), false);

    String text = new ErrorDetails(MessageTypes.of(files)).texts(status).get(0);

    assertTrue(text.contains("google.rpc.BadRequest"), text);
    assertTrue(text.contains("\"description\":\"too short\""), text);
  }

  @Test
  void delayOfARetryIsRead() {
    Any detail =
        Any.pack(
            com.google.rpc.RetryInfo.newBuilder()
                .setRetryDelay(
                    com.google.protobuf.Duration.newBuilder().setSeconds(2).setNanos(500_000_000))
                .build());

    assertEquals(
        2_500,
        ErrorDetails.retryMillis(new GrpcStatus(8, "", List.of(detail.toByteArray()), false)));
  }
}
