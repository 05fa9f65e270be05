package dev.mcpbridge.http.reply;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class GzipEncoderTest {
  private static final Buffer EVENT =
      Buffer.buffer("event: state\ndata: {\"server\":\"weather\",\"state\":\"ready\"}\n\n");

  @Property(tries = 300)
  void anyPartsAreDecodedAsTheyWere(@ForAll long seed, @ForAll @IntRange(max = 20) int parts)
      throws IOException {
    Random random = new Random(seed);
    GzipEncoder encoder = new GzipEncoder();
    Buffer sent = Buffer.buffer();
    Buffer encoded = Buffer.buffer();
    for (int i = 0; i <= parts; i++) {
      Buffer part = part(random);
      sent.appendBuffer(part);
      encoded.appendBuffer(encoder.part(part, random.nextInt(3) > 0));
    }
    encoded.appendBuffer(encoder.end());

    byte[] decoded =
        new GZIPInputStream(new ByteArrayInputStream(encoded.getBytes())).readAllBytes();

    assertArrayEquals(sent.getBytes(), decoded);
  }

  /** Empty, short, or longer than a block; of few or of all bytes. */
  private static Buffer part(Random random) {
    int[] lengths = {0, 1, 50, 3_000, 8_192, 70_000, 200_000};
    byte[] bytes = new byte[lengths[random.nextInt(lengths.length)]];
    int alphabet = random.nextBoolean() ? 4 : 256;
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt(alphabet);
    }
    return Buffer.buffer(bytes);
  }

  @Test
  void eachPartCanBeReadAsSoonAsItIsThere() throws Exception {
    GzipEncoder encoder = new GzipEncoder();
    Inflater inflater = new Inflater(true);
    List<String> read = new ArrayList<>();

    for (int i = 0; i < 3; i++) {
      Buffer encoded = encoder.part(EVENT.copy().appendString("" + i), i != 1);
      inflater.setInput(i == 0 ? encoded.getBytes(10, encoded.length()) : encoded.getBytes());
      read.add(inflated(inflater));
    }

    assertEquals(List.of(EVENT + "0", EVENT + "1", EVENT + "2"), read);
    inflater.end();
  }

  private static String inflated(Inflater inflater) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] space = new byte[100];
    for (int n = inflater.inflate(space); n > 0; n = inflater.inflate(space)) {
      out.write(space, 0, n);
    }
    return out.toString();
  }

  @Test
  void aPartIsShortIfItIsLikeTheOneBefore() {
    GzipEncoder encoder = new GzipEncoder();
    encoder.part(EVENT, true);

    int second = encoder.part(EVENT, true).length();

    assertTrue(second < EVENT.length() / 4, "bytes: " + second);
  }

  @Test
  void theLengthOfAPartTellsNothingOfASecretBeforeIt() {
    Buffer guess = Buffer.buffer("token=Zx81LmQ0vbT7 token=Zx81LmQ0vbT7");
    GzipEncoder afterSecret = new GzipEncoder();
    afterSecret.part(EVENT, true);
    afterSecret.part(Buffer.buffer("token=Zx81LmQ0vbT7"), false);
    GzipEncoder afterOther = new GzipEncoder();
    afterOther.part(EVENT, true);
    afterOther.part(Buffer.buffer("nothing of the kind"), false);

    assertEquals(afterOther.part(guess, true).length(), afterSecret.part(guess, true).length());
  }
}
