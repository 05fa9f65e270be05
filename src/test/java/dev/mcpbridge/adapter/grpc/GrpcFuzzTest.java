package dev.mcpbridge.adapter.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.TypeRegistry;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** What gRPC servers send, and what is sent to them. */
class GrpcFuzzTest {
  private static final int MAX = 256;
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.UPSTREAM_PROTOCOL_ERROR, ErrorCode.RESPONSE_TOO_LARGE);

  private static final Set<ErrorCode> INVALID =
      Set.of(ErrorCode.MALFORMED_REQUEST, ErrorCode.INVALID_ARGUMENTS);

  @FuzzTest(maxDuration = "1000h")
  void messagesAreIndependentOfTheChunksOfABody(FuzzedDataProvider data) {
    int cut = data.consumeInt(0, 512);
    byte[] body = data.consumeRemainingAsBytes();
    int at = Math.min(cut, body.length);

    assertEquals(
        messages(body),
        messages(Arrays.copyOf(body, at), Arrays.copyOfRange(body, at, body.length)));
  }

  private static List<String> messages(byte[]... chunks) {
    List<String> messages = new ArrayList<>();
    FrameReader reader =
        new FrameReader(
            MAX,
            message -> {
              assertTrue(message.length <= MAX);
              return messages.add(Arrays.toString(message));
            });
    try {
      for (byte[] chunk : chunks) {
        reader.feed(Buffer.buffer(chunk));
      }
    } catch (BridgeException e) {
      assertTrue(REFUSALS.contains(e.code()), e.code().slug());
      messages.add(e.code().slug());
    }
    return messages;
  }

  /** A type with every kind of field: the description of files itself. */
  @FuzzTest(maxDuration = "1000h")
  void responseIsJsonOrRefused(byte[] message) {
    MessageJson json = new MessageJson(TypeRegistry.getEmptyTypeRegistry());
    JsonSlice response;
    try {
      response = json.response(FileDescriptorProto.getDescriptor(), message, 10_000);
    } catch (BridgeException e) {
      assertTrue(REFUSALS.contains(e.code()), e.code().slug());
      return;
    }
    assertTrue(response.text().length() <= 10_000);
    List<byte[]> again = json.requests(FileDescriptorProto.getDescriptor(), false, response);
    assertEquals(
        response.text(),
        json.response(FileDescriptorProto.getDescriptor(), again.get(0), 20_000).text());
  }

  @FuzzTest(maxDuration = "1000h")
  void argumentsThatAreSentAreReadAgainAsTheSame(byte[] body) {
    MessageJson json = new MessageJson(TypeRegistry.getEmptyTypeRegistry());
    byte[] sent;
    try {
      JsonSlice arguments = Arguments.read(body, 50).json();
      sent = json.requests(FileDescriptorProto.getDescriptor(), false, arguments).get(0);
    } catch (BridgeException e) {
      assertTrue(INVALID.contains(e.code()), e.code().slug());
      return;
    }
    JsonSlice read = json.response(FileDescriptorProto.getDescriptor(), sent, 1 << 20);
    assertArrayEquals(sent, json.requests(FileDescriptorProto.getDescriptor(), false, read).get(0));
  }
}
