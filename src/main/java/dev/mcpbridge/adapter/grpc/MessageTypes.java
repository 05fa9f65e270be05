package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.TextFormat;
import com.google.protobuf.TypeRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The types of messages that an {@code Any} may contain. Stateless. */
final class MessageTypes {
  private static final FileDescriptor ERROR_DETAILS = errorDetails();

  private MessageTypes() {}

  private static FileDescriptor errorDetails() {
    try (InputStream in = MessageTypes.class.getResourceAsStream("error_details.textproto")) {
      FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder();
      TextFormat.merge(new String(in.readAllBytes(), StandardCharsets.UTF_8), file);
      return LinkedFiles.of(List.of(file.build()), new LinkedHashMap<>()).iterator().next();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The types of a server, and those that every server may use. */
  static TypeRegistry of(Collection<FileDescriptor> files) {
    Map<String, FileDescriptor> all = new LinkedHashMap<>();
    all.put(ERROR_DETAILS.getName(), ERROR_DETAILS);
    LinkedFiles.wellKnown().forEach(file -> all.put(file.getName(), file));
    files.forEach(file -> all.put(file.getName(), file));
    TypeRegistry.Builder types = TypeRegistry.newBuilder();
    all.values().forEach(file -> types.add(file.getMessageTypes()));
    return types.build();
  }
}
