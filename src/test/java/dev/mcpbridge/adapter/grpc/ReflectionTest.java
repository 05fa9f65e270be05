package dev.mcpbridge.adapter.grpc;

import static dev.mcpbridge.adapter.grpc.FaultyGrpcServer.frame;
import static dev.mcpbridge.adapter.grpc.FaultyGrpcServer.ok;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.UnknownFieldSet;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.junit5.VertxExtension;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What servers answer to the question of their services. */
@ExtendWith(VertxExtension.class)
class ReflectionTest {
  private static final int SYMBOL = 4;
  private static final int NAME = 3;

  private final Map<String, byte[]> answers = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  private Vertx vertx;

  @BeforeEach
  void start(Vertx vertx) {
    this.vertx = vertx;
  }

  private static byte[] message(int field, byte[]... values) {
    UnknownFieldSet.Field.Builder list = UnknownFieldSet.Field.newBuilder();
    for (byte[] value : values) {
      list.addLengthDelimited(ByteString.copyFrom(value));
    }
    return UnknownFieldSet.newBuilder().addField(field, list.build()).build().toByteArray();
  }

  private static byte[] services(String... names) {
    byte[][] entries = new byte[names.length][];
    for (int i = 0; i < names.length; i++) {
      entries[i] = message(1, names[i].getBytes(StandardCharsets.UTF_8));
    }
    return message(6, message(1, entries));
  }

  private static byte[] file(String name, String... imports) {
    FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder().setName(name);
    return message(4, message(1, file.addAllDependency(List.of(imports)).build().toByteArray()));
  }

  private Reflection.Description read() throws Exception {
    FaultyGrpcServer server =
        new FaultyGrpcServer(
            vertx,
            (request, body) -> {
              byte[] question = body.getBytes(5, body.length());
              String name =
                  List.of(SYMBOL, NAME).stream()
                      .flatMap(field -> WireFields.of(question, field).stream())
                      .map(text -> new String(text, StandardCharsets.UTF_8))
                      .findFirst()
                      .orElse("");
              asked.add(request.path() + " " + name);
              byte[] unknown = message(7, new byte[0]);
              ok(request).end(frame(0, answers.getOrDefault(name, unknown)));
            });
    WorkerExecutor readers = vertx.createSharedWorkerExecutor("readers", 2);
    return EventLoops.await(
        vertx,
        () ->
            new Reflection(server.channel(), Map.of(), readers)
                .read(service -> !service.startsWith("other.")));
  }

  @Test
  void filesOfTheServicesAndTheirImportsAreReadOnceEach() throws Exception {
    answers.put("", services("a.A", "a.B", "other.C"));
    answers.put("a.A", file("a.proto", "shared.proto", "google/protobuf/any.proto"));
    answers.put("a.B", file("b.proto", "shared.proto", "a.proto"));
    answers.put("shared.proto", file("shared.proto"));

    Reflection.Description read = read();

    assertEquals(Set.of("a.A", "a.B"), read.services());
    assertEquals(
        List.of("a.proto", "b.proto", "shared.proto"),
        read.files().stream().map(FileDescriptorProto::getName).sorted().toList());
    assertEquals(4, asked.size(), asked.toString());
  }

  @Test
  void serviceThatIsNotDescribedIsLeftOut() throws Exception {
    answers.put("", services("a.A", "a.Hidden"));
    answers.put("a.A", file("a.proto", "missing.proto"));

    Reflection.Description read = read();

    assertEquals(Set.of("a.A"), read.services());
    assertTrue(read.undescribed().containsKey("a.Hidden"));
  }

  @Test
  void fileWithAnotherNameThanItsImportIsKnownByTheImport() throws Exception {
    answers.put("", services("a.A"));
    answers.put("a.A", file("a.proto", "dir/b.proto"));
    answers.put("dir/b.proto", file("b.proto"));

    List<String> names =
        read().files().stream().map(FileDescriptorProto::getName).sorted().toList();

    assertEquals(List.of("a.proto", "dir/b.proto"), names);
  }

  private void assertFails(String reason) {
    BridgeException failed = assertThrows(BridgeException.class, this::read);

    assertEquals(ErrorCode.START_FAILED, failed.code());
    assertTrue(failed.getMessage().contains(reason), failed.getMessage());
  }

  @Test
  void answerThatIsNoMessageIsRefused() {
    answers.put("", new byte[] {(byte) 0xFF, 1, 2});

    assertFails("not valid");
  }

  @Test
  void fileThatIsNoDescriptorIsRefused() {
    answers.put("", services("a.A"));
    answers.put("a.A", message(4, message(1, new byte[] {10, 99})));

    assertFails("not valid");
  }

  @Test
  void moreImportsThanAServerMayHaveAreRefused() {
    answers.put("", services("a.A"));
    for (int i = 0; i < 60; i++) {
      int from = 20 * i;
      String[] imports =
          IntStream.range(from, from + 20).mapToObj(n -> "f" + n).toArray(String[]::new);
      answers.put(
          i == 0 ? "a.A" : "f" + (i - 1), file(i == 0 ? "a.proto" : "f" + (i - 1), imports));
    }

    assertFails("more than 1000 files");
  }
}
