package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;

/**
 * The arguments of one call. The bytes that are forwarded and the tree that is validated are read
 * from the same text, so the upstream server receives exactly the object that the gate checked.
 *
 * @param json the object on one line, every number and key as it was sent
 * @param tree the same object as a tree
 */
public record Arguments(JsonSlice json, JsonNode tree) {

  public static final Arguments NONE = new Arguments(JsonSlice.EMPTY_OBJECT, Json.object());

  /**
   * Reads a request body: one object, no duplicate keys, bounded depth, valid UTF-8.
   *
   * @throws BridgeException MALFORMED_REQUEST with the error and its byte offset
   */
  public static Arguments read(byte[] body, int maxDepth) {
    return read(body, maxDepth, "The body");
  }

  /**
   * @param subject what error messages call the text
   */
  public static Arguments read(byte[] body, int maxDepth, String subject) {
    JsonScanner scanner = JsonScanner.strict(maxDepth);
    try {
      JsonSlice value = scanner.document(body, 0, body.length);
      if (!value.isObject()) {
        throw malformed(subject + " must be a JSON object with the arguments");
      }
      return parse(value, scanner.sawWhitespace(), subject + " is", subject + " has");
    } catch (JsonSyntaxException e) {
      throw malformed(subject + " is not valid JSON: " + e.getMessage());
    }
  }

  /**
   * Reads arguments from part of a text that has been scanned strictly.
   *
   * @param spaced whether the text may contain whitespace between its tokens
   * @throws BridgeException MALFORMED_REQUEST for a duplicate key or too many tokens
   */
  public static Arguments fromScanned(JsonSlice object, boolean spaced) {
    return parse(object, spaced, "The arguments are", "The arguments have");
  }

  private static Arguments parse(JsonSlice object, boolean spaced, String are, String have) {
    try {
      JsonSlice line = spaced ? compact(object) : object;
      return new Arguments(line, Json.tree(line));
    } catch (StreamConstraintsException e) {
      throw malformed(have + " too many tokens, or a token is too long");
    } catch (JsonProcessingException e) {
      throw malformed(are + " not acceptable JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  /** Removes the whitespace between tokens; the text must have been scanned. */
  static JsonSlice compact(JsonSlice value) {
    byte[] out = new byte[value.length()];
    byte[] in = value.bytes();
    int size = 0;
    boolean inString = false;
    for (int i = value.from(); i < value.to(); i++) {
      byte c = in[i];
      if (!inString && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
        continue;
      }
      out[size++] = c;
      if (c == '"') {
        inString = !inString;
      } else if (c == '\\') {
        out[size++] = in[++i];
      }
    }
    return new JsonSlice(out, 0, size);
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }
}
