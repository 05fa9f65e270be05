package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.TypeRegistry;
import dev.mcpbridge.adapter.DistinctNames;
import dev.mcpbridge.config.GrpcSource;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a server offers, as read from its descriptors.
 *
 * @param methods by tool name
 * @param omitted why methods, services or files are not offered, by name
 */
record GrpcApi(
    Map<String, GrpcMethod> methods,
    Map<String, String> omitted,
    MessageJson json,
    ErrorDetails errorDetails) {
  private static final int MAX_METHODS = 5_000;
  private static final int MAX_BYTES = 32 << 20;
  private static final List<String> SERVICES_OF_GRPC =
      List.of("grpc.reflection.", "grpc.health.", "grpc.channelz.");

  /** Whether a service is one of those that servers have for gRPC itself. */
  static boolean isOfGrpc(String service) {
    return SERVICES_OF_GRPC.stream().anyMatch(service::startsWith);
  }

  /**
   * Reads descriptors. Blocks.
   *
   * @param services the services of the server; null for all in the files
   * @param undescribed why other services are not offered
   * @throws BridgeException START_FAILED if no method can be offered for a reason that is known
   */
  static GrpcApi of(
      GrpcSource source,
      Set<String> services,
      Collection<FileDescriptorProto> files,
      Map<String, String> undescribed) {
    Map<String, String> omitted = new LinkedHashMap<>(undescribed);
    Collection<FileDescriptor> linked = LinkedFiles.of(files, omitted);
    List<MethodDescriptor> selected = new ArrayList<>();
    for (FileDescriptor file : linked) {
      for (ServiceDescriptor service : file.getServices()) {
        String name = service.getFullName();
        if ((services == null || services.contains(name)) && !isOfGrpc(name)) {
          select(source, service, selected, omitted);
        }
      }
    }
    Map<String, GrpcMethod> methods = described(selected, new Comments(files), omitted);
    if (methods.isEmpty() && !omitted.isEmpty()) {
      Map.Entry<String, String> first = omitted.entrySet().iterator().next();
      throw new BridgeException(
          ErrorCode.START_FAILED,
          "The server has no method to offer: " + first.getKey() + ": " + first.getValue());
    }
    TypeRegistry registry = MessageTypes.of(linked);
    return new GrpcApi(methods, omitted, new MessageJson(registry), new ErrorDetails(registry));
  }

  private static void select(
      GrpcSource source,
      ServiceDescriptor service,
      List<MethodDescriptor> selected,
      Map<String, String> omitted) {
    for (MethodDescriptor method : service.getMethods()) {
      boolean isStream = method.isClientStreaming() || method.isServerStreaming();
      if (!source.offers(service.getFullName(), method.getName())) {
        continue;
      }
      if (isStream && !source.streams().offered()) {
        omitted.put(method.getFullName(), "a streaming method; streaming is false");
      } else {
        selected.add(method);
      }
    }
  }

  /** The definitions of the tools, as many as a catalogue may have. */
  private static Map<String, GrpcMethod> described(
      List<MethodDescriptor> selected, Comments comments, Map<String, String> omitted) {
    List<String> names = names(selected);
    Map<String, GrpcMethod> methods = new LinkedHashMap<>();
    long bytes = 0;
    for (int i = 0; i < selected.size(); i++) {
      if (methods.size() == MAX_METHODS || bytes > MAX_BYTES) {
        omitted.put(selected.get(i).getFullName(), "the server has too many methods");
        continue;
      }
      GrpcMethod method = GrpcMethod.of(names.get(i), selected.get(i), comments);
      bytes += method.definition().length();
      methods.put(names.get(i), method);
    }
    return methods;
  }

  /** The package is part of a name only if it would be ambiguous without. */
  private static List<String> names(List<MethodDescriptor> methods) {
    Map<String, Long> counts =
        methods.stream().collect(Collectors.groupingBy(GrpcApi::name, Collectors.counting()));
    List<String> preferred =
        methods.stream()
            .map(
                method ->
                    counts.get(name(method)) == 1
                        ? name(method)
                        : method.getFullName().replace('.', '_'))
            .toList();
    return DistinctNames.of(
        preferred, methods.stream().map(MethodDescriptor::getFullName).toList());
  }

  private static String name(MethodDescriptor method) {
    return method.getService().getName() + "_" + method.getName();
  }

  /** The definitions of its tools, which clients know. */
  List<JsonSlice> definitions() {
    return methods.values().stream().map(GrpcMethod::definition).toList();
  }
}
