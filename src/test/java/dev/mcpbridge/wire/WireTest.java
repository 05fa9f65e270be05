package dev.mcpbridge.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.wire.WireReader.WireException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WireTest {
  private static final byte[] HUGE = new WireWriter().number(Integer.MAX_VALUE).toBytes();

  @Property(tries = 2_000)
  void writtenValuesAreReadBack(
      @ForAll long number,
      @ForAll boolean flag,
      @ForAll String text,
      @ForAll byte[] bytes,
      @ForAll List<Long> numbers) {
    // Given
    String validText = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    WireWriter out =
        new WireWriter(0)
            .number(number)
            .flag(flag)
            .text(validText)
            .bytes(bytes)
            .list(numbers, WireWriter::number)
            .optional(null, WireWriter::text)
            .optional(validText, WireWriter::text)
            .part(number, WireWriter::number);

    // When
    WireReader in = new WireReader(out.toBytes());

    // Then
    assertEquals(number, in.number());
    assertEquals(flag, in.flag());
    assertEquals(validText, in.text());
    assertArrayEquals(bytes, in.bytes());
    assertEquals(numbers, in.list(WireReader::number));
    assertNull(in.optional(WireReader::text));
    assertEquals(validText, in.optional(WireReader::text));
    assertEquals(number, in.part(WireReader::number));
    assertTrue(in.isAtEnd());
  }

  @ParameterizedTest
  @CsvSource({"0,1", "127,1", "128,2", "9223372036854775807,9", "-1,10"})
  void numbersHaveVariableLength(long number, int bytes) {
    assertEquals(bytes, new WireWriter().number(number).toBytes().length);
  }

  @Test
  void unknownFieldsOfPartAreSkipped() {
    byte[] bytes =
        new WireWriter().part(1L, (out, one) -> out.number(one).text("new")).number(2).toBytes();
    WireReader in = new WireReader(bytes);
    assertEquals(1, in.part(WireReader::number));
    assertEquals(2, in.number());
  }

  @Test
  void readingPastTheEndOfPartFails() {
    byte[] bytes = new WireWriter().part(1L, WireWriter::number).number(2).toBytes();
    assertThrows(
        WireException.class,
        () -> new WireReader(bytes).part(part -> part.number() + part.number()));
  }

  @Test
  void excessiveLengthIsRefusedWithoutAllocation() {
    assertThrows(WireException.class, () -> new WireReader(HUGE).bytes());
    assertThrows(WireException.class, () -> new WireReader(HUGE).text());
    assertThrows(WireException.class, () -> new WireReader(HUGE).list(WireReader::number));
    assertThrows(WireException.class, () -> new WireReader(HUGE).part(WireReader::number));
    byte[] negative = new WireWriter().number(-1).toBytes();
    assertThrows(WireException.class, () -> new WireReader(negative).bytes());
  }

  @Test
  void unterminatedNumberIsRefused() {
    byte[] bytes = new byte[20];
    Arrays.fill(bytes, (byte) 0xFF);
    assertThrows(WireException.class, () -> new WireReader(bytes).number());
  }

  @Property(tries = 5_000, edgeCases = EdgeCasesMode.NONE)
  void arbitraryBytesAreReadOrRefused(@ForAll byte[] bytes, @ForAll long seed) {
    WireReader in = new WireReader(bytes);
    SplittableRandom random = new SplittableRandom(seed);
    try {
      while (!in.isAtEnd()) {
        readValue(in, random.nextInt(6));
      }
    } catch (WireException e) {
      // refused
    }
  }

  private static void readValue(WireReader in, int kind) {
    switch (kind) {
      case 0 -> in.number();
      case 1 -> in.text();
      case 2 -> in.bytes();
      case 3 -> in.list(WireReader::bytes);
      case 4 -> in.optional(WireReader::text);
      default -> in.part(part -> part.list(WireReader::number));
    }
  }
}
