package dev.mcpbridge.protocol;

/** Writes JSON-RPC 2.0 messages, one line each, newline included. Stateless. */
public final class RpcWriter {
  private RpcWriter() {}

  public static byte[] request(long id, String method, JsonSlice params) {
    JsonWriter out = open(method, params.length()).member("id", id);
    return close(out, method, params);
  }

  /**
   * A request with a {@code _meta}.
   *
   * @param params must not contain {@code _meta}
   */
  public static byte[] request(long id, String method, JsonSlice params, JsonSlice meta) {
    JsonSlice withMeta =
        new JsonWriter(params.length() + meta.length() + 16)
            .beginObject()
            .membersOf(params)
            .member("_meta", meta)
            .endObject()
            .toSlice();
    return request(id, method, withMeta);
  }

  public static byte[] notification(String method, JsonSlice params) {
    return close(open(method, params.length()), method, params);
  }

  public static byte[] result(JsonSlice id, JsonSlice result) {
    return new JsonWriter(result.length() + 64)
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("id", id)
        .member("result", result)
        .endObject()
        .newline()
        .toBytes();
  }

  public static byte[] error(JsonSlice id, int code, String message) {
    return new JsonWriter()
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("id", id)
        .name("error")
        .beginObject()
        .member("code", code)
        .member("message", message)
        .endObject()
        .endObject()
        .newline()
        .toBytes();
  }

  /** An error response with an existing error object. */
  public static byte[] error(JsonSlice id, JsonSlice error) {
    return new JsonWriter(error.length() + 64)
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("id", id)
        .member("error", error)
        .endObject()
        .newline()
        .toBytes();
  }

  private static JsonWriter open(String method, int paramsLength) {
    return new JsonWriter(method.length() + paramsLength + 80)
        .beginObject()
        .member("jsonrpc", "2.0");
  }

  private static byte[] close(JsonWriter out, String method, JsonSlice params) {
    return out.member("method", method).member("params", params).endObject().newline().toBytes();
  }
}
