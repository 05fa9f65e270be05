package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.HttpCaller.Response;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.ToolResult;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Converts responses of an API to tool results (MCP server/tools). */
final class ResultMapper {
  private static final int MAX_DEPTH = 200;
  private static final int EXCERPT_LENGTH = 4_096;

  private final int largeBody;
  private final LargeBodyStore largeBodies;

  /**
   * @param largeBody bodies of more bytes are stored, and the result refers to them
   */
  ResultMapper(int largeBody, LargeBodyStore largeBodies) {
    this.largeBody = largeBody;
    this.largeBodies = largeBodies;
  }

  /**
   * @param hasOutputSchema whether the tool has an output schema; then structured content is
   *     mandatory
   */
  JsonSlice of(Response response, boolean hasOutputSchema) {
    int status = response.status();
    if (status / 100 == 3) {
      return error(
          response,
          "The API redirects to " + response.header("location") + ", which is not followed.");
    }
    return status / 100 == 2 ? success(response, hasOutputSchema) : error(response, "");
  }

  private JsonSlice success(Response response, boolean hasOutputSchema) {
    byte[] body = response.body().getBytes();
    ToolResult result = content(response, body);
    if (body.length > largeBody && !hasOutputSchema) {
      return result.done();
    }
    JsonSlice json = isText(response.mediaType()) ? json(body) : null;
    if (json != null && json.isObject()) {
      return result.structured(json).done();
    }
    return hasOutputSchema ? result.addText(invalidOutput(response)).error() : result.done();
  }

  private ToolResult content(Response response, byte[] body) {
    if (body.length == 0) {
      return ToolResult.text(statusLine(response));
    }
    if (body.length > largeBody) {
      return large(response, body);
    }
    return isText(response.mediaType())
        ? ToolResult.text(response.text())
        : media(response.mediaType(), body);
  }

  /** MCP server/tools: a tool with an output schema returns structured content or an error. */
  private static String invalidOutput(Response response) {
    return "The call was executed ("
        + statusLine(response)
        + "), but the response is not the JSON object that the API's document declares.";
  }

  private static ToolResult media(String type, byte[] body) {
    String data = Base64.getEncoder().encodeToString(body);
    JsonWriter out = new JsonWriter(data.length() + 256).beginObject();
    if (type.startsWith("image/") || type.startsWith("audio/")) {
      out.member("type", type.substring(0, 5)).member("data", data).member("mimeType", type);
    } else {
      out.member("type", "resource").name("resource").beginObject();
      out.member("uri", "api-result:///body").member("mimeType", type).member("blob", data);
      out.endObject();
    }
    return ToolResult.of(out.endObject().toSlice());
  }

  /** An excerpt and a link to the complete body, which expires. */
  private ToolResult large(Response response, byte[] body) {
    boolean isText = isText(response.mediaType());
    String uri =
        largeBodies.store(
            response.mediaType(), isText ? response.text().getBytes(StandardCharsets.UTF_8) : body);
    String text =
        statusLine(response)
            + "\n"
            + body.length
            + " bytes of "
            + response.mediaType()
            + ", too large to include. Read the resource "
            + uri
            + (isText
                ? " for the complete response. It begins:\n" + excerpt(response.text())
                : " to get them.");
    JsonWriter link = link(uri, "complete response");
    link.member("mimeType", response.mediaType()).member("size", body.length);
    return ToolResult.text(text).addBlock(link.endObject().toSlice());
  }

  /** Begins a resource link; the caller ends the object. */
  private static JsonWriter link(String uri, String name) {
    return new JsonWriter()
        .beginObject()
        .member("type", "resource_link")
        .member("uri", uri)
        .member("name", name);
  }

  private static JsonSlice error(Response response, String detail) {
    String text = statusLine(response) + (detail.isEmpty() ? "" : "\n" + detail);
    String body = excerpt(response.text());
    return ToolResult.text(body.isBlank() ? text : text + "\n" + body).error();
  }

  private static String statusLine(Response response) {
    String reason = response.head().statusMessage();
    return "HTTP " + response.status() + (reason == null ? "" : " " + reason);
  }

  private static String excerpt(String body) {
    if (body.length() <= EXCERPT_LENGTH) {
      return body;
    }
    boolean splitsPair = Character.isHighSurrogate(body.charAt(EXCERPT_LENGTH - 1));
    return body.substring(0, splitsPair ? EXCERPT_LENGTH - 1 : EXCERPT_LENGTH) + "…";
  }

  static boolean isText(String type) {
    return type.isEmpty()
        || type.startsWith("text/")
        || MediaTypes.isJson(type)
        || type.endsWith("/xml")
        || type.endsWith("+xml")
        || type.endsWith("/yaml")
        || type.equals("application/x-ndjson")
        || type.equals("application/javascript");
  }

  private static JsonSlice json(byte[] body) {
    try {
      return JsonScanner.strict(MAX_DEPTH).document(body, 0, body.length);
    } catch (JsonSyntaxException e) {
      return null;
    }
  }
}
