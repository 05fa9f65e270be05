package dev.mcpbridge.protocol;

/** Writes JSON-RPC 2.0 messages, to servers and to clients. Stateless. */
public final class RpcWriter {
  private RpcWriter() {}

  public static JsonWriter request(long id, String method, JsonSlice params) {
    return call(open(method.length() + params.length()).member("id", id), method, params);
  }

  public static JsonWriter request(String id, String method, JsonSlice params) {
    int length = id.length() + method.length() + params.length();
    return call(open(length).member("id", id), method, params);
  }

  /**
   * A request with a {@code _meta}.
   *
   * @param params must not contain {@code _meta}
   */
  public static JsonWriter request(long id, String method, JsonSlice params, JsonSlice meta) {
    JsonSlice withMeta =
        new JsonWriter(params.length() + meta.length() + 16)
            .beginObject()
            .membersOf(params)
            .member("_meta", meta)
            .endObject()
            .toSlice();
    return request(id, method, withMeta);
  }

  public static JsonWriter notification(String method, JsonSlice params) {
    return call(open(method.length() + params.length()), method, params);
  }

  public static JsonWriter result(JsonSlice id, JsonSlice result) {
    return open(id.length() + result.length())
        .member("id", id)
        .member("result", result)
        .endObject();
  }

  public static JsonWriter error(JsonSlice id, int code, String message) {
    JsonWriter error = new JsonWriter().beginObject().member("code", code);
    return error(id, error.member("message", message).endObject().toSlice());
  }

  /** An error response with an existing error object. */
  public static JsonWriter error(JsonSlice id, JsonSlice error) {
    return open(id.length() + error.length()).member("id", id).member("error", error).endObject();
  }

  private static JsonWriter open(int contentLength) {
    return new JsonWriter(contentLength + 80).beginObject().member("jsonrpc", "2.0");
  }

  private static JsonWriter call(JsonWriter out, String method, JsonSlice params) {
    return out.member("method", method).member("params", params).endObject();
  }
}
