package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcWriter;

/** Sends the response to one request, and messages that precede it. */
public interface ReplyChannel {
  /** Whether messages can be sent ahead of the response. */
  boolean takesStream();

  /** Sends a notification or a request ahead of the response; false if that is not possible. */
  boolean send(JsonSlice message);

  /**
   * Sends the response.
   *
   * @param status HTTP status, ignored once a stream is open
   */
  void finish(int status, JsonSlice message);

  /**
   * Allows to compress the response, as far as the channel can. It must not be allowed for one that
   * has a secret beside a text of the client.
   *
   * @param content what the response is; null forbids it again
   */
  default void compress(Compressed content) {
    // the messages of a channel for many requests are not told apart
  }

  /** Tells the client which token it needs, if the response is one to its HTTP request. */
  default void challenge(BridgeException failure) {
    // a stream has no headers for it
  }

  /** Sends the result of the request with the id. */
  default void answer(JsonSlice id, JsonSlice result) {
    finish(200, RpcWriter.result(id, result).toSlice());
  }
}
