package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** Requests to a bridge. Nothing is sent twice: a call may have run. */
final class BridgeHttp {
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final Supplier<BridgeTools.Address> where;
  private BridgeTools.Address bridge;
  private HttpClient client;

  BridgeHttp(Supplier<BridgeTools.Address> where) {
    this.where = where;
  }

  /** The bridge said no, with a problem document (RFC 9457). */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;
    private final int status;
    private final transient JsonNode problem;

    Refused(int status, JsonNode problem) {
      super(problem.path("detail").asText("The bridge answered " + status), null, false, false);
      this.status = status;
      this.problem = problem;
    }

    /** For a model: what is wrong, and whether it was executed. */
    String sentence() {
      String executed =
          switch (problem.path("executed").asText()) {
            case "no" -> "Nothing was executed.";
            case "yes" -> "It was executed.";
            default -> "Whether it was executed is not known: do not repeat it unchecked.";
          };
      return problem.path("code").asText("error") + ": " + getMessage() + "\n" + executed;
    }

    BridgeException failure() {
      return new BridgeException(
          status == 401 ? ErrorCode.UNAUTHENTICATED : ErrorCode.UPSTREAM_ERROR,
          "The bridge refused: " + getMessage());
    }
  }

  JsonNode get(String path) throws InterruptedException {
    try {
      return send("GET", path, null);
    } catch (Refused refused) {
      throw refused.failure();
    }
  }

  JsonNode post(String path, JsonNode body) throws InterruptedException {
    try {
      return send("POST", path, body);
    } catch (Refused refused) {
      throw refused.failure();
    }
  }

  JsonNode send(String method, String path, JsonNode body) throws InterruptedException, Refused {
    bridge = bridge == null ? where.get() : bridge;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(bridge + path))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.toString()));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    if (bridge.key() != null) {
      request.header("authorization", "Bearer " + bridge.key());
    }
    HttpResponse<byte[]> response = answered(request.build());
    JsonNode answer = json(response.body());
    if (response.statusCode() >= 300) {
      throw new Refused(response.statusCode(), answer);
    }
    return answer;
  }

  private HttpResponse<byte[]> answered(HttpRequest request) throws InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> response =
        client().sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
    try {
      return response.get();
    } catch (InterruptedException e) {
      response.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      boolean isNobodyThere = e.getCause() instanceof ConnectException;
      String why = e.getCause().getMessage();
      throw new BridgeException(
          ErrorCode.SERVER_UNAVAILABLE,
          (isNobodyThere
                  ? "There is no bridge at " + bridge
                  : "The bridge at " + bridge + " broke off")
              + (why == null ? "" : ": " + why));
    }
  }

  /** With every digit: a human approves what is shown of it. */
  private JsonNode json(byte[] body) {
    try {
      return Json.exactTree(body);
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR, "What is at " + bridge + " is no bridge");
    }
  }

  /** Made when it is needed: that loads all of TLS. */
  private HttpClient client() {
    if (client == null) {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(CONNECT)
              .build();
    }
    return client;
  }
}
