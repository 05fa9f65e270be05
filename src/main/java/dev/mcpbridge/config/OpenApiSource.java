package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * An HTTP API with its OpenAPI document, each operation a tool.
 *
 * @param server where the API is; null where the document says it
 * @param servers further ones that single paths and operations may name
 * @param include what is offered, null for everything
 * @param exclude what of that is not
 * @param overrides by the tool's name
 * @param authUrl where a person gets credentials, null for none
 * @param destructive whether what is not safe (RFC 9110 section 9.2.1) needs a confirmation
 * @param outputSchemas whether tools promise what the document says of their answers
 * @param refreshMillis between two looks at the document
 * @param largeBody bytes from which on a body is kept to be fetched, and only its beginning told
 */
public record OpenApiSource(
    DocumentSource document,
    URI server,
    List<URI> servers,
    HttpAccess access,
    Selection include,
    Selection exclude,
    Map<String, Override> overrides,
    List<ApiCredential> credentials,
    URI authUrl,
    boolean destructive,
    boolean outputSchemas,
    long refreshMillis,
    int largeBody)
    implements UpstreamTarget {

  /** Operations; what is empty says nothing. */
  public record Selection(
      List<String> tags, List<Glob> paths, List<String> methods, List<Glob> operations) {

    /** Whether any of what it names is named by an operation. */
    public boolean names(List<String> ownTags, String path, String method, String operation) {
      return ownTags.stream().anyMatch(tags::contains)
          || paths.stream().anyMatch(glob -> glob.matches(path))
          || methods.stream().anyMatch(method::equalsIgnoreCase)
          || operations.stream().anyMatch(glob -> glob.matches(operation));
    }
  }

  /** What the operator says of a tool; null where the document has the word. */
  public record Override(String name, String description) {}
}
