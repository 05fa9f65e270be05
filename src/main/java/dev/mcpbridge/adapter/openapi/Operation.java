package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One operation of an API, with everything that a call needs.
 *
 * @param method in upper case
 * @param server base URL; the path is appended to its path
 * @param path path template
 * @param body null if the operation has no body
 */
record Operation(String method, URI server, String path, List<Parameter> parameters, Body body) {

  /**
   * @param type the media type that is sent
   * @param fields schemas of form fields; for an array, the schema of its items
   * @param encodings encoding objects of the document by field
   */
  record Body(
      String type,
      boolean required,
      Map<String, JsonNode> fields,
      Map<String, JsonNode> encodings) {
    static final String KEY = "body";

    /** The encoding object of a field; a missing node if absent. */
    JsonNode encoding(String field) {
      return encodings.getOrDefault(field, MissingNode.getInstance());
    }

    boolean isJson() {
      return type.equals("application/json") || type.endsWith("+json");
    }

    boolean isForm() {
      return type.equals("application/x-www-form-urlencoded");
    }

    boolean isMultipart() {
      return type.startsWith("multipart/");
    }

    boolean isText() {
      return type.startsWith("text/") || type.endsWith("/xml") || type.endsWith("+xml");
    }
  }

  /** The location of an operation in its document. */
  record Location(String path, String method, JsonNode item, JsonNode node) {
    @Override
    public String toString() {
      return method.toUpperCase(Locale.ROOT) + " " + path;
    }
  }

  /** RFC 9110 section 9.2.1. */
  boolean isSafe() {
    return method.equals("GET") || method.equals("HEAD") || method.equals("OPTIONS");
  }

  /** Whether a request without a body needs Content-Length: 0 (RFC 9110 section 8.6). */
  boolean expectsBody() {
    return method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
  }

  /** RFC 9110 section 9.2.2. */
  boolean isIdempotent() {
    return isSafe() || method.equals("PUT") || method.equals("DELETE");
  }
}
