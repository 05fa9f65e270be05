package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * An HTTP API with its OpenAPI document. Each operation is offered as a tool.
 *
 * @param server base URL of the API; null for the one in the document
 * @param servers further base URLs that paths and operations of the document may use
 * @param include the operations to offer; null for all
 * @param exclude the operations to omit from these
 * @param overrides by tool name
 * @param authUrl where a person obtains credentials; null if not set
 * @param confirmsUnsafeMethods whether methods that are not safe (RFC 9110 section 9.2.1) need a
 *     confirmation
 * @param outputSchemas whether tools declare the response schemas of the document
 * @param refreshMillis interval at which the document is polled for changes
 * @param largeBodyBytes bytes from which on a response body is stored as a resource, so that the
 *     result has only its beginning
 */
public record OpenApiSource(
    DocumentSource document,
    URI server,
    List<URI> servers,
    HttpAccess access,
    OperationFilter include,
    OperationFilter exclude,
    Map<String, ToolOverride> overrides,
    List<ApiCredential> credentials,
    URI authUrl,
    boolean confirmsUnsafeMethods,
    boolean outputSchemas,
    long refreshMillis,
    int largeBodyBytes)
    implements UpstreamTarget {

  @Override
  public URI url() {
    return server == null && document instanceof DocumentSource.Url at ? at.url() : server;
  }

  /** Criteria for operations; an empty list matches none. */
  public record OperationFilter(
      List<String> tags, List<Glob> paths, List<String> methods, List<Glob> operations) {

    /** Whether an operation matches at least one criterion. */
    public boolean matches(
        List<String> operationTags, String path, String method, String operation) {
      return operationTags.stream().anyMatch(tags::contains)
          || paths.stream().anyMatch(glob -> glob.matches(path))
          || methods.stream().anyMatch(method::equalsIgnoreCase)
          || operations.stream().anyMatch(glob -> glob.matches(operation));
    }
  }

  /** The operator's name and description of a tool; null for those of the document. */
  public record ToolOverride(String name, String description) {}
}
