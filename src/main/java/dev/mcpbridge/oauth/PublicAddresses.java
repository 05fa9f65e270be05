package dev.mcpbridge.oauth;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/** Which addresses are reachable for everybody (RFC 6890). Stateless. */
final class PublicAddresses {
  private static final byte[] NAT64 = {0, 0x64, (byte) 0xFF, (byte) 0x9B, 0, 0, 0, 0, 0, 0, 0, 0};

  private static final byte[] LOCAL_NAT64 = {0, 0x64, (byte) 0xFF, (byte) 0x9B, 0, 1};

  private PublicAddresses() {}

  static boolean contains(InetAddress address) {
    if (address.isAnyLocalAddress()
        || address.isLoopbackAddress()
        || address.isLinkLocalAddress()
        || address.isSiteLocalAddress()
        || address.isMulticastAddress()) {
      return false;
    }
    byte[] bytes = address.getAddress();
    return address instanceof Inet4Address ? isPublicV4(bytes) : isPublicV6(bytes);
  }

  private static boolean isPublicV4(byte[] bytes) {
    int first = bytes[0] & 0xFF;
    int second = bytes[1] & 0xFF;
    boolean isSharedSpace = first == 100 && second >= 64 && second < 128;
    boolean isBenchmark = first == 198 && (second == 18 || second == 19);
    boolean isProtocol = first == 192 && second == 0 && bytes[2] == 0;
    return first != 0 && first < 240 && !isSharedSpace && !isBenchmark && !isProtocol;
  }

  /** Addresses that contain one of IPv4 are judged by that. */
  private static boolean isPublicV6(byte[] bytes) {
    boolean isUniqueLocal = (bytes[0] & 0xFE) == 0xFC;
    boolean isTeredo = bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0 && bytes[3] == 0;
    boolean isLocalNat64 = Arrays.equals(bytes, 0, 6, LOCAL_NAT64, 0, 6);
    boolean is6to4 = bytes[0] == 0x20 && bytes[1] == 0x02;
    boolean isNat64 = Arrays.equals(bytes, 0, 12, NAT64, 0, 12);
    boolean isCompatible = Arrays.equals(bytes, 0, 12, new byte[12], 0, 12);
    if (isUniqueLocal || isTeredo || isLocalNat64) {
      return false;
    }
    if (is6to4) {
      return containsV4(Arrays.copyOfRange(bytes, 2, 6));
    }
    return !isNat64 && !isCompatible || containsV4(Arrays.copyOfRange(bytes, 12, 16));
  }

  private static boolean containsV4(byte[] bytes) {
    try {
      return contains(InetAddress.getByAddress(bytes));
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
