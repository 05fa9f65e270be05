package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.AnyProto;
import com.google.protobuf.ApiProto;
import com.google.protobuf.DescriptorProtos;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DurationProto;
import com.google.protobuf.EmptyProto;
import com.google.protobuf.FieldMaskProto;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.SourceContextProto;
import com.google.protobuf.StructProto;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.TypeProto;
import com.google.protobuf.WrappersProto;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Links the descriptors of files with those of the files that they import. Used once; blocks. */
final class LinkedFiles {
  private static final Map<String, FileDescriptor> WELL_KNOWN =
      Stream.of(
              AnyProto.getDescriptor(),
              ApiProto.getDescriptor(),
              DescriptorProtos.getDescriptor(),
              DurationProto.getDescriptor(),
              EmptyProto.getDescriptor(),
              FieldMaskProto.getDescriptor(),
              SourceContextProto.getDescriptor(),
              StructProto.getDescriptor(),
              TimestampProto.getDescriptor(),
              TypeProto.getDescriptor(),
              WrappersProto.getDescriptor())
          .collect(Collectors.toMap(FileDescriptor::getName, Function.identity()));

  private final Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
  private final Map<String, FileDescriptor> linked = new LinkedHashMap<>();
  private final Set<String> linking = new LinkedHashSet<>();

  private LinkedFiles(Collection<FileDescriptorProto> files) {
    files.forEach(file -> this.files.put(file.getName(), file));
  }

  /** Whether the file is part of every protobuf library. */
  static boolean isWellKnown(String file) {
    return WELL_KNOWN.containsKey(file);
  }

  /**
   * Links files.
   *
   * @param problems gets, by name of the file, why a file cannot be used
   * @return the others
   */
  static Collection<FileDescriptor> of(
      Collection<FileDescriptorProto> files, Map<String, String> problems) {
    LinkedFiles all = new LinkedFiles(files);
    for (String name : all.files.keySet()) {
      try {
        all.link(name);
      } catch (BridgeException unusable) {
        all.linking.clear();
        problems.put(name, unusable.getMessage());
      }
    }
    return all.linked.values();
  }

  /** The files of every protobuf library. */
  static Collection<FileDescriptor> wellKnown() {
    return WELL_KNOWN.values();
  }

  /** The files of a descriptor set, as {@code protoc} and {@code buf} write it. */
  static Collection<FileDescriptorProto> read(byte[] descriptorSet) {
    try {
      return FileDescriptorSet.parseFrom(descriptorSet).getFileList();
    } catch (InvalidProtocolBufferException e) {
      throw failed("the file of descriptorSet is not a descriptor set: " + e.getMessage());
    }
  }

  private FileDescriptor link(String name) {
    if (isWellKnown(name)) {
      return WELL_KNOWN.get(name);
    }
    FileDescriptor known = linked.get(name);
    if (known != null) {
      return known;
    }
    FileDescriptorProto file = files.get(name);
    if (file == null) {
      throw failed("the file " + name + " is imported and missing");
    }
    if (!linking.add(name)) {
      throw failed("the files import each other in a circle: " + String.join(", ", linking));
    }
    FileDescriptor[] imported = new FileDescriptor[file.getDependencyCount()];
    for (int i = 0; i < imported.length; i++) {
      imported[i] = link(file.getDependency(i));
    }
    linking.remove(name);
    try {
      FileDescriptor descriptor = FileDescriptor.buildFrom(file, imported);
      linked.put(name, descriptor);
      return descriptor;
    } catch (DescriptorValidationException | RuntimeException e) {
      throw failed("the file " + name + " is not valid: " + e.getMessage());
    }
  }

  private static BridgeException failed(String reason) {
    return new BridgeException(
        ErrorCode.START_FAILED, "The services' descriptors cannot be used: " + reason);
  }
}
