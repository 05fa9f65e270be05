package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Lines of the kernel's connection tables. */
class TcpEntryTest {
  private static final String REST =
      " 01 00000000:00000000 00:00000000 00000000  1000        0 %s 1 0 20 4 30 10 -1";
  private static final InetSocketAddress CLIENT = new InetSocketAddress("127.0.0.1", 0xA1B2);
  private static final InetSocketAddress SERVER = new InetSocketAddress("127.0.0.1", 3000);

  private static TcpEntry entry(String local, String remote) {
    assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
    return TcpEntry.parse("   0: " + local + " " + remote + REST.formatted("77001")).orElseThrow();
  }

  @Test
  void parsesIpv4() {
    TcpEntry entry = entry("0100007F:A1B2", "0100007F:0BB8");

    assertEquals(new TcpEntry(CLIENT, SERVER, 77_001), entry);
  }

  @Test
  void parsesIpv4MappedIpv6() {
    assertEquals(
        new TcpEntry(CLIENT, SERVER, 77_001),
        entry("0000000000000000FFFF00000100007F:A1B2", "0000000000000000FFFF00000100007F:0BB8"));
  }

  @Test
  void parsesIpv6() {
    assertEquals(
        new TcpEntry(
            new InetSocketAddress("::1", 0xA1B2),
            new InetSocketAddress("2001:db8::1", 3000),
            77_001),
        entry("00000000000000000000000001000000:A1B2", "B80D0120000000000000000001000000:0BB8"));
  }

  @Test
  void ignoresInvalidLines() {
    for (String line :
        new String[] {
          "", "  sl  local_address rem_address   st", "   0: x y" + REST, "   0: 00:1 00:2" + REST
        }) {
      assertEquals(Optional.empty(), TcpEntry.parse(line), line);
    }
  }
}
