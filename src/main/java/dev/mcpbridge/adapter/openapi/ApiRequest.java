package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.PercentEncoding;
import io.vertx.core.Future;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One request to an API: a call's arguments, each where its operation wants it. */
final class ApiRequest {
  private final Operation operation;
  private final Map<String, JsonSlice> given;
  private final String path;
  private final Optional<ApiBody> body;
  private final List<String> query = new ArrayList<>();
  private final Map<String, String> headers = new LinkedHashMap<>();
  private final List<String> cookies = new ArrayList<>();

  /**
   * @throws dev.mcpbridge.error.BridgeException INVALID_ARGUMENTS for what cannot be sent
   */
  ApiRequest(Operation operation, JsonSlice arguments) {
    this.operation = operation;
    this.given = JsonObjects.members(arguments);
    this.path = PathTemplate.filled(operation.path(), operation.parameters(), given);
    this.body = body(operation.body(), given.get(Operation.Body.KEY));
    operation.parameters().forEach(this::place);
  }

  HttpMethod method() {
    return HttpMethod.valueOf(operation.method());
  }

  /**
   * A path may have a query of its own, and a fragment that only tells operations apart: both come
   * from the document, since values are encoded.
   */
  URI url() {
    URI base = operation.server();
    String basePath = base.getRawPath() == null ? "" : base.getRawPath().replaceAll("/+$", "");
    String route = path.split("#", 2)[0];
    String whole =
        query.isEmpty() ? "" : (route.contains("?") ? "&" : "?") + String.join("&", query);
    return URI.create(base.getScheme() + "://" + base.getRawAuthority() + basePath + route + whole);
  }

  void header(String name, String value) {
    headers.put(name, value);
  }

  void cookie(String name, String value) {
    cookies.add(name + "=" + value);
  }

  void query(String name, String value) {
    query.add(PercentEncoding.encoded(name) + "=" + PercentEncoding.encoded(value));
  }

  Future<HttpClientResponse> send(HttpClientRequest request) {
    headers.forEach(request::putHeader);
    if (!cookies.isEmpty()) {
      request.putHeader("cookie", String.join("; ", cookies));
    }
    if (body.isPresent()) {
      return request.putHeader("content-type", body.get().type()).send(body.get().bytes());
    }
    if (operation.expectsBody()) {
      request.putHeader("content-length", "0");
    }
    return request.send();
  }

  /** A null for a body that may be left out is none. */
  private static Optional<ApiBody> body(Operation.Body body, JsonSlice value) {
    boolean isNone =
        body == null || value == null || !body.required() && JsonSlice.NULL.equals(value);
    return isNone ? Optional.empty() : Optional.of(ApiBody.of(body, value));
  }

  private void place(Parameter parameter) {
    JsonSlice value = given.get(parameter.key());
    if (value == null || JsonSlice.NULL.equals(value) && !parameter.required()) {
      return;
    }
    switch (parameter.in()) {
      case PATH -> {}
      case QUERY -> pairs(parameter, value).forEach(pair -> query.add(written(parameter, pair)));
      case COOKIE ->
          pairs(parameter, value)
              .forEach(
                  pair -> cookie(PercentEncoding.encoded(pair.name()), encoded(parameter, pair)));
      case HEADER -> headers.put(parameter.name(), fieldValue(parameter, value));
    }
  }

  private static List<StyledParameters.Pair> pairs(Parameter parameter, JsonSlice value) {
    return parameter.isJson()
        ? List.of(StyledParameters.Pair.of(parameter.name(), value.text()))
        : StyledParameters.of(parameter.name(), value, parameter.style(), parameter.explode());
  }

  private static String written(Parameter parameter, StyledParameters.Pair pair) {
    return PercentEncoding.encoded(pair.name()) + "=" + encoded(parameter, pair);
  }

  private static String encoded(Parameter parameter, StyledParameters.Pair pair) {
    return String.join(
        pair.delimiter(),
        pair.values().stream()
            .map(value -> ArgumentErrors.unlessPlain(parameter.key(), value))
            .map(
                value ->
                    parameter.allowsReserved()
                        ? PercentEncoding.reserved(value)
                        : PercentEncoding.encoded(value))
            .toList());
  }

  private static String fieldValue(Parameter parameter, JsonSlice value) {
    String text =
        parameter.isJson() ? value.text() : StyledParameters.simple(value, parameter.explode());
    boolean isFieldValue = text.chars().allMatch(c -> c >= 0x20 && c < 0x7F || c == '\t');
    if (!isFieldValue) {
      throw ArgumentErrors.of("'" + parameter.key() + "' holds what no header can");
    }
    return text;
  }
}
