package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * A gRPC server. Each method is offered as a tool.
 *
 * @param url its origin, with the scheme http or https
 * @param descriptorSet file with the descriptors of its services, from {@code protoc} or {@code
 *     buf}; null to ask the server by reflection
 * @param services the services or methods ({@code package.Service/Method}) to offer; empty for all
 * @param excluded the services or methods to omit from these
 * @param refreshMillis interval at which the descriptors are read again
 */
public record GrpcSource(
    URI url,
    HttpAccess access,
    Path descriptorSet,
    List<Glob> services,
    List<Glob> excluded,
    Streams streams,
    long refreshMillis)
    implements UpstreamTarget {

  /**
   * How streaming methods are offered.
   *
   * @param offered whether they are offered at all
   * @param maxMessages number of responses after which a call is cancelled
   */
  public record Streams(boolean offered, int maxMessages) {}

  /** Whether a method is offered. */
  public boolean offers(String service, String method) {
    return (services.isEmpty() || matches(services, service, method))
        && !matches(excluded, service, method);
  }

  /** Whether a service may have a method that is offered. */
  public boolean mayOffer(String service) {
    boolean isSelected =
        services.isEmpty()
            || services.stream()
                .anyMatch(
                    glob ->
                        glob.matches(service)
                            || new Glob(glob.pattern().replaceFirst("/[^/]*$", ""))
                                .matches(service));
    return isSelected && excluded.stream().noneMatch(glob -> glob.matches(service));
  }

  private static boolean matches(List<Glob> globs, String service, String method) {
    return globs.stream()
        .anyMatch(glob -> glob.matches(service) || glob.matches(service + "/" + method));
  }
}
