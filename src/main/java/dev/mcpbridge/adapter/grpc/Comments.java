package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The comments of a source file, as far as its descriptor has them ({@code SourceCodeInfo} in
 * descriptor.proto). Immutable.
 */
final class Comments {
  private static final int MAX = 2_000;

  /** By file and path within it. */
  private final Map<String, Map<List<Integer>, String>> byFile = new HashMap<>();

  Comments(Collection<FileDescriptorProto> files) {
    for (FileDescriptorProto file : files) {
      Map<List<Integer>, String> comments = new HashMap<>();
      for (Location location : file.getSourceCodeInfo().getLocationList()) {
        String text = (location.getLeadingComments() + location.getTrailingComments()).strip();
        if (!text.isEmpty()) {
          comments.put(location.getPathList(), bounded(text));
        }
      }
      byFile.put(file.getName(), comments);
    }
  }

  /** The comment of a method; empty without one. */
  String of(MethodDescriptor method) {
    List<Integer> path = List.of(6, method.getService().getIndex(), 2, method.getIndex());
    return at(method.getFile(), path);
  }

  /** The comment of a field; empty without one. */
  String of(FieldDescriptor field) {
    if (field.isExtension()) {
      return "";
    }
    List<Integer> path = new ArrayList<>(path(field.getContainingType()));
    path.addAll(List.of(2, field.getIndex()));
    return at(field.getFile(), path);
  }

  /** The comment of a message; empty without one. */
  String of(Descriptor message) {
    return at(message.getFile(), path(message));
  }

  /** The comment of an enum; empty without one. */
  String of(EnumDescriptor values) {
    List<Integer> path = new ArrayList<>();
    if (values.getContainingType() == null) {
      path.addAll(List.of(5, values.getIndex()));
    } else {
      path.addAll(path(values.getContainingType()));
      path.addAll(List.of(4, values.getIndex()));
    }
    return at(values.getFile(), path);
  }

  private static List<Integer> path(Descriptor message) {
    if (message.getContainingType() == null) {
      return List.of(4, message.getIndex());
    }
    List<Integer> path = new ArrayList<>(path(message.getContainingType()));
    path.addAll(List.of(3, message.getIndex()));
    return path;
  }

  private String at(FileDescriptor file, List<Integer> path) {
    return byFile.getOrDefault(file.getName(), Map.of()).getOrDefault(path, "");
  }

  private static String bounded(String text) {
    return text.length() <= MAX ? text : text.substring(0, MAX) + "…";
  }
}
