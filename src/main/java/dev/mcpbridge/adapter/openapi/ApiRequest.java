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

/** One request to an API, with the arguments of a call placed as its operation declares. */
final class ApiRequest {
  private final Operation operation;
  private final Map<String, JsonSlice> argumentValues;
  private final String path;
  private final Optional<ApiBody> body;
  private final List<String> query = new ArrayList<>();
  private final Map<String, String> headers = new LinkedHashMap<>();
  private final List<String> cookies = new ArrayList<>();

  /**
   * @throws dev.mcpbridge.error.BridgeException INVALID_ARGUMENTS if a value cannot be encoded
   */
  ApiRequest(Operation operation, JsonSlice arguments) {
    this.operation = operation;
    this.argumentValues = JsonObjects.members(arguments);
    this.path = PathTemplate.expand(operation.path(), operation.parameters(), argumentValues);
    this.body = body(operation.body(), argumentValues.get(Operation.Body.KEY));
    operation.parameters().forEach(this::place);
  }

  HttpMethod method() {
    return HttpMethod.valueOf(operation.method());
  }

  /**
   * A path in a document may contain a query, and a fragment that only distinguishes operations.
   * Neither can come from an argument, because arguments are encoded.
   */
  URI url() {
    URI base = operation.server();
    String route = path.split("#", 2)[0];
    String fullQuery =
        query.isEmpty() ? "" : (route.contains("?") ? "&" : "?") + String.join("&", query);
    return URI.create(
        base.getScheme()
            + "://"
            + base.getRawAuthority()
            + ServerUrls.path(base)
            + route
            + fullQuery);
  }

  /** Adds a header, unless the operation has one of this name. */
  void headerIfAbsent(String name, String value) {
    headers.putIfAbsent(name, value);
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

  /** A null for an optional body means no body. */
  private static Optional<ApiBody> body(Operation.Body body, JsonSlice value) {
    boolean isAbsent =
        body == null || value == null || !body.required() && JsonSlice.NULL.equals(value);
    return isAbsent ? Optional.empty() : Optional.of(ApiBody.of(body, value));
  }

  private void place(Parameter parameter) {
    JsonSlice value = argumentValues.get(parameter.key());
    if (value == null || JsonSlice.NULL.equals(value) && !parameter.required()) {
      return;
    }
    switch (parameter.in()) {
      case PATH -> {}
      case QUERY -> pairs(parameter, value).forEach(pair -> query.add(queryPair(parameter, pair)));
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

  private static String queryPair(Parameter parameter, StyledParameters.Pair pair) {
    return PercentEncoding.encoded(pair.name()) + "=" + encoded(parameter, pair);
  }

  private static String encoded(Parameter parameter, StyledParameters.Pair pair) {
    return String.join(
        pair.delimiter(),
        pair.values().stream()
            .map(value -> ArgumentErrors.requirePlain(parameter.key(), value))
            .map(
                value ->
                    parameter.allowsReserved()
                        ? PercentEncoding.reserved(value)
                        : PercentEncoding.encoded(value))
            .toList());
  }

  private static String fieldValue(Parameter parameter, JsonSlice value) {
    String text =
        parameter.isJson()
            ? value.text()
            : StyledParameters.unnamed(value, parameter.explode(), ",", each -> each);
    boolean isFieldValue = text.chars().allMatch(c -> c >= 0x20 && c < 0x7F || c == '\t');
    if (!isFieldValue) {
      throw ArgumentErrors.of(
          "'" + parameter.key() + "' contains characters that no header may contain");
    }
    return text;
  }
}
