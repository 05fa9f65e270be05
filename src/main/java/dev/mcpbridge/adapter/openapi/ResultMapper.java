package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.HttpCaller.Answer;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ToolResult;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Results of tools (MCP server/tools) out of what an API answered. */
final class ResultMapper {
  private static final int MAX_DEPTH = 200;
  private static final int BEGINNING = 4_096;

  private final String server;
  private final URI authUrl;
  private final int largeBody;
  private final LargeBodyStore kept;

  /**
   * @param server its id at the bridge
   * @param authUrl where a person gets credentials, null for none
   */
  ResultMapper(String server, URI authUrl, int largeBody, LargeBodyStore kept) {
    this.server = server;
    this.authUrl = authUrl;
    this.largeBody = largeBody;
    this.kept = kept;
  }

  /**
   * @param promised whether the tool has promised structured content, which then is never left out
   */
  JsonSlice of(Answer answer, boolean promised) {
    int status = answer.status();
    if (status == 401 || status == 403) {
      return refused(answer);
    }
    if (status / 100 == 3) {
      return error(
          answer, "It redirects to " + answer.header("location") + ", which is not followed.");
    }
    return status / 100 == 2 ? success(answer, promised) : error(answer, "");
  }

  private JsonSlice success(Answer answer, boolean promised) {
    byte[] body = answer.body().getBytes();
    ToolResult shown = shown(answer, body);
    if (body.length > largeBody && !promised) {
      return shown.done();
    }
    JsonSlice json = isText(answer.type()) ? json(body) : null;
    if (json != null && json.isObject()) {
      return shown.structured(json).done();
    }
    return promised ? shown.andText(brokenPromise(answer)).error() : shown.done();
  }

  private ToolResult shown(Answer answer, byte[] body) {
    if (body.length == 0) {
      return ToolResult.text(line(answer));
    }
    if (body.length > largeBody) {
      return large(answer, body);
    }
    return isText(answer.type()) ? ToolResult.text(answer.text()) : media(answer.type(), body);
  }

  /** MCP server/tools: what has an output schema is answered with that, or with an error. */
  private static String brokenPromise(Answer answer) {
    return "The call was carried out ("
        + line(answer)
        + "), but its answer is not the JSON object that the API's document promises.";
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

  /** The beginning, and where the whole can be read for some time. */
  private ToolResult large(Answer answer, byte[] body) {
    boolean isText = isText(answer.type());
    String uri =
        kept.keep(answer.type(), isText ? answer.text().getBytes(StandardCharsets.UTF_8) : body);
    String words =
        line(answer)
            + "\n"
            + body.length
            + " bytes of "
            + answer.type()
            + ": too many to show. Read the resource "
            + uri
            + (isText
                ? " for all of it. It begins:\n" + beginning(answer.text())
                : " to have them.");
    JsonWriter link = link(uri, "the whole answer");
    link.member("mimeType", answer.type()).member("size", body.length);
    return ToolResult.text(words).and(link.endObject().toSlice());
  }

  /** A link that is still open. */
  private static JsonWriter link(String uri, String name) {
    return new JsonWriter()
        .beginObject()
        .member("type", "resource_link")
        .member("uri", uri)
        .member("name", name);
  }

  private JsonSlice refused(Answer answer) {
    if (authUrl == null) {
      return error(answer, "");
    }
    String words =
        line(answer)
            + "\nThe API wants a credential of the user's. Ask the user to log in at "
            + authUrl
            + " and to give the credential to this bridge, in the header X-Upstream-Authorization"
            + " of the call or with PUT /servers/"
            + server
            + "/credentials.\n"
            + beginning(answer.text());
    JsonWriter link = link(authUrl.toString(), "log in");
    return ToolResult.text(words).and(link.endObject().toSlice()).meta(login()).error();
  }

  /** For programs, so that they need not understand the sentence. */
  private JsonSlice login() {
    JsonWriter meta = new JsonWriter().beginObject().name(MetaKeys.LOGIN).beginObject();
    meta.member("server", server).member("url", authUrl.toString());
    return meta.endObject().endObject().toSlice();
  }

  private static JsonSlice error(Answer answer, String more) {
    String words = line(answer) + (more.isEmpty() ? "" : "\n" + more);
    String body = beginning(answer.text());
    return ToolResult.text(body.isBlank() ? words : words + "\n" + body).error();
  }

  private static String line(Answer answer) {
    String reason = answer.head().statusMessage();
    return "HTTP " + answer.status() + (reason == null ? "" : " " + reason);
  }

  private static String beginning(String body) {
    if (body.length() <= BEGINNING) {
      return body;
    }
    boolean splits = Character.isHighSurrogate(body.charAt(BEGINNING - 1));
    return body.substring(0, splits ? BEGINNING - 1 : BEGINNING) + "…";
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
