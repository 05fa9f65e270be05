package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessagesTest {

  static Stream<Class<?>> kinds() {
    return kinds(Message.class).distinct();
  }

  private static Stream<Class<?>> kinds(Class<?> type) {
    return type.isRecord()
        ? Stream.of(type)
        : Arrays.stream(type.getPermittedSubclasses()).flatMap(MessagesTest::kinds);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindOfMessageArrivesAsItWasSent(Class<?> kind) throws ReflectiveOperationException {
    SplittableRandom random = new SplittableRandom(kind.getName().hashCode());
    for (int i = 0; i < 200; i++) {
      Signed sent = signed(kind, random);
      byte[] bytes = sent.toBytes();
      Signed read = Signed.of(bytes);
      assertEquals(sent.from(), read.from());
      assertEquals(sent.generation(), read.generation());
      assertArrayEquals(sent.incarnations(), read.incarnations());
      assertEquals(picture(sent.message()), picture(read.message()));
      assertArrayEquals(bytes, read.toBytes());
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aMessageThatEndsTooSoonIsNone(Class<?> kind) throws ReflectiveOperationException {
    byte[] bytes = signed(kind, new SplittableRandom(9)).toBytes();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(WireReader.WireException.class, () -> Signed.of(cut));
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void whatALaterVersionAddsAtTheEndIsPassedOver(Class<?> kind)
      throws ReflectiveOperationException {
    byte[] bytes = signed(kind, new SplittableRandom(10)).toBytes();
    assertArrayEquals(bytes, Signed.of(Arrays.copyOf(bytes, bytes.length + 7)).toBytes());
  }

  @Property(tries = 5_000, edgeCases = EdgeCasesMode.NONE)
  void anyBytesAreAMessageOrARuntimeException(@ForAll byte[] bytes) {
    readsOrRefuses(bytes);
  }

  @Property(tries = 3_000, edgeCases = EdgeCasesMode.NONE)
  void aMessageThatWasTamperedWithIsAMessageOrARuntimeException(@ForAll long seed)
      throws ReflectiveOperationException {
    SplittableRandom random = new SplittableRandom(seed);
    List<Class<?>> kinds = kinds().toList();
    byte[] bytes = signed(kinds.get(random.nextInt(kinds.size())), random).toBytes();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    readsOrRefuses(bytes);
  }

  @Property(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
  void whatAReplicaHearsIsTakenOrRefusedWhateverItSays(@ForAll long seed)
      throws ReflectiveOperationException {
    SplittableRandom random = new SplittableRandom(seed);
    SingleReplica node = new SingleReplica(3, 1).following();
    List<Class<?>> kinds = kinds().toList();
    for (int i = 0; i < 30; i++) {
      Message message = (Message) any(kinds.get(random.nextInt(kinds.size())), random);
      try {
        node.hears(random.nextInt(-1, 4), message);
        node.pass(random.nextInt(300));
      } catch (RuntimeException e) {
        // the connection that it came by is closed
      }
      node.lives[1] = node.replica.incarnation();
    }
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void whatWasAppliedIsKnownAfterASnapshot(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Executed executed = new Executed();
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      long number = random.nextLong(20);
      entries.add(
          new Entry(
              random.nextInt(3),
              random.nextLong(3),
              number,
              random.nextLong(number + 1),
              0,
              new byte[0]));
      executed.add(entries.get(i));
    }
    WireWriter out = new WireWriter();
    executed.write(out);
    Executed read = new Executed();
    read.add(new Entry(7, 1, 1, 1, 0, new byte[0]));
    read.read(new WireReader(out.toBytes()));
    WireWriter again = new WireWriter();
    read.write(again);
    assertArrayEquals(out.toBytes(), again.toBytes());
    entries.forEach(entry -> assertEquals(false, read.add(entry)));
  }

  private static void readsOrRefuses(byte[] bytes) {
    try {
      Signed read = Signed.of(bytes);
      assertArrayEquals(read.toBytes(), Signed.of(read.toBytes()).toBytes());
    } catch (RuntimeException e) {
      // refused
    }
  }

  private static Signed signed(Class<?> kind, RandomGenerator random)
      throws ReflectiveOperationException {
    long[] incarnations = random.longs(random.nextInt(6)).toArray();
    return new Signed(
        random.nextInt(10), random.nextLong(), incarnations, (Message) any(kind, random));
  }

  /** One of a type, with anything in it. */
  private static Object any(Class<?> type, RandomGenerator random)
      throws ReflectiveOperationException {
    if (type == long.class) {
      return random.nextLong() >> random.nextInt(64);
    } else if (type == int.class) {
      return random.nextInt(-1, 9);
    } else if (type == boolean.class) {
      return random.nextBoolean();
    } else if (type == byte[].class) {
      return random.nextInt(4) == 0 ? new byte[0] : bytes(random);
    } else if (type == List.class) {
      List<Entry> entries = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        entries.add((Entry) any(Entry.class, random));
      }
      return entries;
    } else if (type.isEnum()) {
      return type.getEnumConstants()[random.nextInt(type.getEnumConstants().length)];
    }
    Object[] values = new Object[type.getRecordComponents().length];
    for (int i = 0; i < values.length; i++) {
      values[i] = any(type.getRecordComponents()[i].getType(), random);
    }
    Constructor<?> constructor =
        type.getDeclaredConstructor(
            Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new));
    return constructor.newInstance(values);
  }

  private static byte[] bytes(RandomGenerator random) {
    byte[] bytes = new byte[random.nextInt(300)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** With the content of arrays, which records do not compare. */
  private static String picture(Object value) throws ReflectiveOperationException {
    if (value instanceof byte[] bytes) {
      return Arrays.toString(bytes);
    } else if (value instanceof List<?> list) {
      StringBuilder out = new StringBuilder("[");
      for (Object each : list) {
        out.append(picture(each));
      }
      return out.append(']').toString();
    } else if (value == null || !value.getClass().isRecord()) {
      return Objects.toString(value);
    }
    StringBuilder out = new StringBuilder(value.getClass().getSimpleName());
    for (RecordComponent component : value.getClass().getRecordComponents()) {
      out.append(' ').append(picture(component.getAccessor().invoke(value)));
    }
    return out.toString();
  }
}
