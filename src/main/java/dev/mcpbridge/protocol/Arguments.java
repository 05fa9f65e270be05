package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;

/**
 * The arguments of one call, read once: the compact bytes that are forwarded and the tree that is
 * validated come from the same text, so nobody downstream sees another object than the gate did.
 *
 * @param json the object on one line, every number and key as it was sent
 * @param tree the same as a tree
 */
public record Arguments(JsonSlice json, JsonNode tree) {

  public static final Arguments NONE = new Arguments(JsonSlice.EMPTY_OBJECT, Json.object());

  /**
   * Reads a request body: one object, no duplicate keys, bounded depth, valid UTF-8.
   *
   * @throws BridgeException MALFORMED_REQUEST, saying what is wrong and at which byte
   */
  public static Arguments read(byte[] body, int maxDepth) {
    return read(body, maxDepth, "The body");
  }

  /**
   * @param what the text is called in a complaint
   */
  public static Arguments read(byte[] body, int maxDepth, String what) {
    JsonScanner scanner = JsonScanner.strict(maxDepth);
    try {
      JsonSlice value = scanner.document(body, 0, body.length);
      if (!value.isObject()) {
        throw malformed(what + " must be a JSON object with the arguments");
      }
      JsonSlice line = scanner.sawWhitespace() ? compact(value) : value;
      return new Arguments(line, Json.tree(line));
    } catch (JsonSyntaxException e) {
      throw malformed(what + " is not valid JSON: " + e.getMessage());
    } catch (StreamConstraintsException e) {
      throw malformed(what + " has too many tokens, or too long ones");
    } catch (JsonProcessingException e) {
      throw malformed(what + " is not acceptable JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  /**
   * Arguments that are part of a text which was scanned strictly.
   *
   * @param spaced whether there may be blanks between its tokens
   * @throws BridgeException MALFORMED_REQUEST for a key that is there twice, or too many tokens
   */
  public static Arguments scanned(JsonSlice object, boolean spaced) {
    try {
      JsonSlice line = spaced ? compact(object) : object;
      return new Arguments(line, Json.tree(line));
    } catch (StreamConstraintsException e) {
      throw malformed("The arguments have too many tokens, or too long ones");
    } catch (JsonProcessingException e) {
      throw malformed("The arguments are not acceptable JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  /** Drops blanks between tokens; the text must have been scanned. */
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
