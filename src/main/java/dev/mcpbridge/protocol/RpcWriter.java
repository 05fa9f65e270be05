package dev.mcpbridge.protocol;

/** Writes JSON-RPC 2.0 messages, one line each, newline included. Stateless. */
public final class RpcWriter {
  private RpcWriter() {}

  public static byte[] request(long id, String method, JsonSlice params) {
    JsonWriter out = open(method, params.length()).member("id", id);
    return close(out, method, params);
  }

  /** A request that asks for progress under its own id as the token. */
  public static byte[] requestWithProgress(long id, String method, JsonSlice params) {
    JsonSlice withToken =
        new JsonWriter(params.length() + 48)
            .beginObject()
            .membersOf(params)
            .name("_meta")
            .beginObject()
            .member("progressToken", id)
            .endObject()
            .endObject()
            .toSlice();
    return request(id, method, withToken);
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

  private static JsonWriter open(String method, int paramsLength) {
    return new JsonWriter(method.length() + paramsLength + 80)
        .beginObject()
        .member("jsonrpc", "2.0");
  }

  private static byte[] close(JsonWriter out, String method, JsonSlice params) {
    return out.member("method", method).member("params", params).endObject().newline().toBytes();
  }
}
