package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of events as in the examples of WHATWG HTML section 9.2.6. */
class SseReaderTest {
  private final List<String> events = new ArrayList<>();
  private final SseReader reader =
      new SseReader(100, event -> events.add(event.type() + " " + event.text()));

  private void feed(String text) {
    reader.feed(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      quoteCharacter = '~',
      textBlock =
          """
          data: a|data: b||                 => message a/b
          data:a||data: b||                 => message a, message b
          data:  two spaces||               => message  two spaces
          data|data||                       => message /
          data||data: x||                   => message x
          event: ping|data: 1||             => ping 1
          event: ping||data: 1||            => message 1
          event: one|event: two|data: 1||   => two 1
          : comment|data: 1|:||             => message 1
          other: x|datax: 2|data: 1||       => message 1
          data: a:b||                       => message a:b
          data: unfinished|                 => ~~
          """)
  void fieldsFormEvents(String stream, String expected) {
    feed(stream.replace('|', '\n'));

    assertEquals(expected, String.join(", ", events).replace('\n', '/'));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r", "\r\n"})
  void linesEndInAnyWay(String end) {
    feed("event: e" + end + "data: grüße 🎉" + end + "data: 2" + end + end);

    feed("data: x" + end + end + "\n");

    assertEquals(List.of("e grüße 🎉\n2", "message x"), events);
  }

  @Test
  void chunksMayEndAnywhere() {
    byte[] stream = "event: e\r\ndata: ü\r\ndata: b\r\n\r\n".getBytes(StandardCharsets.UTF_8);
    for (byte each : stream) {
      reader.feed(new byte[] {each});
    }

    assertEquals(List.of("e ü\nb"), events);
  }

  @Test
  void aLeadingByteOrderMarkIsSkipped() {
    feed("\uFEFFdata: 1\n\n");
    feed("\uFEFFdata: 2\n\n");

    assertEquals(List.of("message 1"), events);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u00EF", "\u00EF\u00BB", "\u00EF\u00BBdata: 1", "\u00EFdata: 1"})
  void otherBytesAreNoByteOrderMark(String beginning) {
    reader.feed((beginning + "\n\ndata: 2\n\n").getBytes(StandardCharsets.ISO_8859_1));

    assertEquals(List.of("message 2"), events);
  }

  @Test
  void theLastIdStaysUntilAnother() {
    assertNull(reader.lastId());

    feed("id: 7\ndata: 1\n\ndata: 2\n\n");
    assertEquals("7", reader.lastId());
    feed("id: a\u0000b\n\n");
    assertEquals("7", reader.lastId());
    feed("id\n\n");
    assertEquals("", reader.lastId());
  }

  @Test
  void onlyDigitsAreADelay() {
    assertEquals(-1, reader.retryMillis());

    feed("retry: 2500\n");
    assertEquals(2500, reader.retryMillis());
    for (String other : List.of("-1", "1s", "", "99999999999999")) {
      feed("retry: " + other + "\n");
      assertEquals(2500, reader.retryMillis());
    }
  }

  @Test
  void anEventIsBounded() {
    feed("data: " + "x".repeat(94) + "\n\n");
    assertEquals(1, events.size());
    feed("data: " + "x".repeat(50) + "\n");
    assertEquals(51, reader.bufferedBytes());
    feed("data");
    assertEquals(55, reader.bufferedBytes());

    assertThrows(IllegalStateException.class, () -> feed(": " + "y".repeat(44)));
  }

  @Test
  void aDispatchedEventIsNotBuffered() {
    feed("data: 1\n\n");

    assertEquals(0, reader.bufferedBytes());
  }
}
