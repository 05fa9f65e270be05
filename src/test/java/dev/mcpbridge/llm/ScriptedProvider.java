package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/**
 * A provider on a socket that answers each request with its next script, together with a model that
 * uses it and records the events of its replies.
 */
final class ScriptedProvider implements AutoCloseable, ChatModel.ModelListener {
  static final String KEY = "sk-very-secret-0123456789";
  static final JsonNode NO_TOOLS = Json.mapper().createArrayNode();

  private final EchoApi api = EchoApi.start();
  private final Queue<EchoApi.Script> scripts = new ConcurrentLinkedQueue<>();
  private volatile EchoApi.Script otherwise = EchoApi.respondWith(418, null, "nothing more");
  private final Recorded recorded;
  private final List<JsonNode> messages = new ArrayList<>();
  final List<String> receivedText = new ArrayList<>();
  final List<Long> waits = new ArrayList<>();
  final List<String> reasons = new ArrayList<>();

  /** Counted down when the client has disconnected. */
  final CountDownLatch disconnected = new CountDownLatch(1);

  ChatModel model;

  ScriptedProvider(Recorded recorded) throws IOException {
    this.recorded = recorded;
    api.on(
        recorded.path,
        (request, peer) -> {
          EchoApi.Script script = scripts.poll();
          return (script == null ? otherwise : script).answer(request, peer);
        });
    model = model("", KEY, Duration.ofSeconds(10), 0);
  }

  ChatModel model(String behindBase, String key, Duration patience, int maxTokens) {
    URI base = URI.create(api.url(recorded.base + behindBase));
    return recorded.provider.at(new ModelEndpoint(base, key, "a-model", patience, maxTokens));
  }

  ScriptedProvider then(EchoApi.Script... more) {
    scripts.addAll(Arrays.asList(more));
    return this;
  }

  /** Answers every request that has no script of its own. */
  void always(EchoApi.Script script) {
    otherwise = script;
  }

  /** Answers with a successful response. */
  ScriptedProvider then(List<String> pieces) {
    return then(EchoApi.respondWith(200, type(), String.join("", pieces)));
  }

  /** A successful response in these chunks. */
  EchoApi.Script inChunks(byte[]... chunks) {
    return (request, peer) -> {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(head("transfer-encoding: chunked"));
      for (byte[] chunk : chunks) {
        all.writeBytes((Integer.toHexString(chunk.length) + "\r\n").getBytes());
        all.writeBytes(chunk);
        all.writeBytes("\r\n".getBytes());
      }
      all.writeBytes("0\r\n\r\n".getBytes());
      peer.out().write(all.toByteArray());
      peer.out().flush();
      return true;
    };
  }

  /** Closes the connection before the announced content length. */
  EchoApi.Script breaksOff(List<String> pieces) {
    return closesAfter("content-length: 999999", pieces);
  }

  /** Sends no content length and closes the connection after the body. */
  EchoApi.Script endsAfter(List<String> pieces) {
    return closesAfter("connection: close", pieces);
  }

  private EchoApi.Script closesAfter(String header, List<String> pieces) {
    return (request, peer) -> {
      peer.out().write(head(header));
      peer.out().write(String.join("", pieces).getBytes(StandardCharsets.UTF_8));
      peer.out().flush();
      return false;
    };
  }

  /** Sends these bytes, or not even a head for null, then waits until the client disconnects. */
  EchoApi.Script fallsSilent(CountDownLatch silent, String pieces) {
    return (request, peer) -> {
      if (pieces != null) {
        peer.out().write(head("content-length: 999999"));
        peer.out().write(pieces.getBytes(StandardCharsets.UTF_8));
        peer.out().flush();
      }
      silent.countDown();
      try {
        peer.in().read();
      } catch (IOException e) {
        // a reset also means that the client has disconnected
      }
      disconnected.countDown();
      return false;
    };
  }

  EchoApi.Script fails(int status, String sentence, String... headers) {
    return EchoApi.respondWith(
        status, "application/json", recorded.answers.error(status, sentence), headers);
  }

  byte[] head(String length) {
    return ("HTTP/1.1 200 OK\r\ncontent-type: " + type() + "\r\n" + length + "\r\n\r\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  private String type() {
    return recorded.answers.isStream() ? "text/event-stream; charset=utf-8" : "application/json";
  }

  /** Sends the conversation with a new user message, and appends the reply. */
  ModelReply ask(String words) throws InterruptedException {
    messages.add(model.userMessage(words));
    return reply(NO_TOOLS, true);
  }

  /** Sends a request without messages. */
  ModelReply once(ChatModel.ModelListener listener) throws InterruptedException {
    return model.reply(new ChatRequest("", NO_TOOLS, List.of(), true), listener);
  }

  ModelReply reply(JsonNode tools, boolean mayCall) throws InterruptedException {
    ModelReply modelReply =
        model.reply(new ChatRequest("Be brief.", tools, messages, mayCall), this);
    messages.add(modelReply.message());
    return modelReply;
  }

  void add(List<JsonNode> more) {
    messages.addAll(more);
  }

  List<EchoApi.Request> requests() {
    return api.requests();
  }

  JsonNode body(int index) throws IOException {
    return Json.exactTree(JsonSlice.of(api.requests().get(index).body()));
  }

  @Override
  public void onText(String more) {
    receivedText.add(more);
  }

  @Override
  public void onRetry(long millis, String why) {
    waits.add(millis);
    reasons.add(why);
  }

  @Override
  public void close() throws IOException {
    api.close();
  }
}
