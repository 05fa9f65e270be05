package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientForm;
import io.vertx.core.http.ClientMultipartForm;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import java.util.Base64;
import java.util.List;

/** The body of a request, as its media type wants it. */
interface ApiBody {

  Future<HttpClientResponse> send(HttpClientRequest request);

  /** JSON goes out byte for byte. */
  static ApiBody of(Operation.Body body, JsonSlice value) {
    if (body.isJson()) {
      return bytes(body.type(), Buffer.buffer(value.toBytes()));
    }
    if (body.isForm()) {
      ClientForm form = ClientForm.form();
      fields(body, value).forEach(field -> form.attribute(field.name(), field.joined()));
      return request -> request.send(form);
    }
    if (body.isMultipart()) {
      ClientMultipartForm form = multipart(body, value);
      return request -> request.send(form);
    }
    String text = JsonObjects.string(value);
    if (text == null) {
      throw Refusals.of("the body must be a text");
    }
    return bytes(body.type(), body.isText() ? Buffer.buffer(text) : decoded("body", text));
  }

  private static ApiBody bytes(String type, Buffer bytes) {
    return request -> request.putHeader("content-type", type).send(bytes);
  }

  private static List<Pairs.Pair> fields(Operation.Body body, JsonSlice value) {
    if (!value.isObject()) {
      throw Refusals.of("the body must be an object");
    }
    return JsonObjects.members(value).entrySet().stream()
        .flatMap(
            field -> {
              JsonNode encoding = body.encodings().get(field.getKey());
              String style = encoding == null ? "form" : encoding.path("style").asText("form");
              boolean explode =
                  encoding == null || encoding.path("explode").asBoolean(style.equals("form"));
              return Pairs.of(field.getKey(), field.getValue(), style, explode).stream();
            })
        .toList();
  }

  private static ClientMultipartForm multipart(Operation.Body body, JsonSlice value) {
    if (!value.isObject()) {
      throw Refusals.of("the body must be an object");
    }
    ClientMultipartForm form = ClientMultipartForm.multipartForm();
    JsonObjects.members(value)
        .forEach(
            (name, field) -> {
              List<JsonSlice> values =
                  field.isArray() ? JsonObjects.elements(field) : List.of(field);
              values.forEach(each -> part(form, body, name, each));
            });
    return form;
  }

  private static void part(
      ClientMultipartForm form, Operation.Body body, String name, JsonSlice value) {
    JsonNode schema = body.fields().get(name);
    if (schema != null && isFile(schema)) {
      JsonNode encoding = body.encodings().get(name);
      String type =
          encoding == null
              ? "application/octet-stream"
              : encoding.path("contentType").asText("application/octet-stream");
      form.binaryFileUpload(name, name, type, decoded(name, Pairs.text(value)));
    } else {
      form.attribute(name, Pairs.text(value));
    }
  }

  private static boolean isFile(JsonNode schema) {
    JsonNode meant = schema.has("items") ? schema.get("items") : schema;
    String format = meant.path("format").asText();
    return format.equals("binary")
        || format.equals("byte")
        || meant.path("contentEncoding").asText().equals("base64")
        || meant.path("contentMediaType").asText().equals("application/octet-stream");
  }

  private static Buffer decoded(String name, String base64) {
    try {
      return Buffer.buffer(Base64.getMimeDecoder().decode(base64));
    } catch (IllegalArgumentException e) {
      throw Refusals.of("'" + name + "' is no base64");
    }
  }
}
