package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.WorkerExecutor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Asks a server for the descriptors of its services (gRPC server reflection, v1 and v1alpha), with
 * one question per stream. Used for one reading; confined to its context.
 */
final class Reflection {
  static final int MAX_FILES = 1_000;
  static final int MAX_BYTES = 32 << 20;
  private static final long MAX_MILLIS = 10_000;
  private static final List<String> VERSIONS = List.of("v1", "v1alpha");

  /** Fields of {@code ServerReflectionRequest}. */
  private static final int FILE_BY_NAME = 3;

  private static final int FILE_CONTAINING_SYMBOL = 4;
  private static final int LIST_SERVICES = 7;

  /** Fields of {@code ServerReflectionResponse}. */
  private static final int FILES = 4;

  private static final int SERVICES = 6;
  private static final int ERROR = 7;

  private final GrpcChannel channel;
  private final Map<String, String> headers;
  private final WorkerExecutor readers;
  private final long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_MILLIS);
  private final Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
  private final Set<String> known = new LinkedHashSet<>();
  private final Queue<Question> questions = new ArrayDeque<>();
  private final Map<String, String> undescribed = new LinkedHashMap<>();
  private String version;
  private long bytes;

  private record Question(int field, String name) {}

  /** The names in an answer, or the files, or that the server does not know what was asked. */
  private record Answer(List<String> names, List<FileDescriptorProto> files, boolean isUnknown) {}

  /**
   * @param readers parse the answers
   */
  Reflection(GrpcChannel channel, Map<String, String> headers, WorkerExecutor readers) {
    this.channel = channel;
    this.headers = headers;
    this.readers = readers;
  }

  /**
   * What a server has.
   *
   * @param services those that are described
   * @param undescribed the others, with the reason
   */
  record Description(
      Set<String> services,
      Collection<FileDescriptorProto> files,
      Map<String, String> undescribed) {}

  /**
   * Reads the services that are wanted.
   *
   * @return fails with START_FAILED if the server cannot be asked, or tells too much
   */
  Future<Description> read(Predicate<String> isWanted) {
    return services(0)
        .compose(
            all -> {
              Set<String> services = new LinkedHashSet<>(all.names());
              services.removeIf(isWanted.negate());
              services.forEach(service -> add(new Question(FILE_CONTAINING_SYMBOL, service)));
              return askAll()
                  .map(
                      done -> {
                        services.removeAll(undescribed.keySet());
                        return new Description(services, files.values(), undescribed);
                      });
            });
  }

  /** The newest version of the protocol that the server has. */
  private Future<Answer> services(int index) {
    version = VERSIONS.get(index);
    return ask(new Question(LIST_SERVICES, ""))
        .compose(
            answer -> {
              if (answer != null) {
                return Future.succeededFuture(answer);
              }
              return index + 1 < VERSIONS.size()
                  ? services(index + 1)
                  : Future.failedFuture(
                      failed(
                          "it has no reflection service: enable it there, or set descriptorSet"));
            });
  }

  private void add(Question question) {
    if (known.add(question.name())) {
      questions.add(question);
    }
  }

  private Future<Void> askAll() {
    Question next = questions.poll();
    return next == null
        ? Future.succeededFuture()
        : ask(next)
            .compose(
                answer -> {
                  accept(next, answer);
                  return askAll();
                });
  }

  /** A service without a description is not offered; a file may not be needed after all. */
  private void accept(Question question, Answer answer) {
    if (answer == null || answer.isUnknown()) {
      if (question.field() == FILE_CONTAINING_SYMBOL) {
        undescribed.put(question.name(), "the server does not describe it");
      }
      return;
    }
    boolean hasName =
        answer.files().stream().anyMatch(file -> file.getName().equals(question.name()));
    boolean isRenamed = question.field() == FILE_BY_NAME && !hasName && answer.files().size() == 1;
    for (FileDescriptorProto file : answer.files()) {
      accept(isRenamed ? file.toBuilder().setName(question.name()).build() : file);
    }
    if (files.size() + questions.size() > MAX_FILES || bytes > MAX_BYTES) {
      throw failed("it has more than " + MAX_FILES + " files, or " + MAX_BYTES + " bytes of them");
    }
  }

  private void accept(FileDescriptorProto file) {
    if (files.putIfAbsent(file.getName(), file) == null) {
      known.add(file.getName());
      file.getDependencyList().stream()
          .filter(name -> !LinkedFiles.isWellKnown(name))
          .forEach(name -> add(new Question(FILE_BY_NAME, name)));
    }
  }

  /** Null if the server does not have this version of the protocol. */
  private Future<Answer> ask(Question question) {
    long millis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
    if (millis <= 0) {
      return Future.failedFuture(failed("it did not answer within " + MAX_MILLIS / 1000 + " s"));
    }
    List<byte[]> answers = new ArrayList<>();
    return channel
        .ask(
            GrpcChannel.Request.of(
                "/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo",
                request(question),
                headers,
                millis),
            answer -> answers.isEmpty() && answers.add(answer))
        .compose(
            status -> {
              if (status.code() == GrpcStatus.UNIMPLEMENTED) {
                return Future.succeededFuture();
              }
              if (!status.isOk() || answers.isEmpty()) {
                return Future.failedFuture(failed(status.name() + " " + status.message()));
              }
              bytes += answers.get(0).length;
              return readers.executeBlocking(() -> parsed(answers.get(0)), false);
            });
  }

  private static byte[] request(Question question) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.writeString(question.field(), question.name());
      out.flush();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return bytes.toByteArray();
  }

  private static Answer parsed(byte[] response) {
    try {
      List<String> names = new ArrayList<>();
      for (byte[] list : WireFields.of(response, SERVICES)) {
        for (byte[] service : WireFields.of(list, 1)) {
          WireFields.of(service, 1).forEach(name -> names.add(text(name)));
        }
      }
      List<FileDescriptorProto> files = new ArrayList<>();
      for (byte[] list : WireFields.of(response, FILES)) {
        for (byte[] file : WireFields.of(list, 1)) {
          files.add(FileDescriptorProto.parseFrom(file));
        }
      }
      return new Answer(names, files, !WireFields.of(response, ERROR).isEmpty());
    } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
      throw failed("an answer is not valid: " + e.getMessage());
    }
  }

  private static String text(byte[] name) {
    return new String(name, StandardCharsets.UTF_8);
  }

  private static BridgeException failed(String reason) {
    return new BridgeException(
        ErrorCode.START_FAILED, "The server's services cannot be read by reflection: " + reason);
  }
}
