package dev.mcpbridge.access;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Paths and URIs in the one form in which they are compared with patterns. Stateless. */
final class Uris {
  /** A segment that leads upwards, in a path with either kind of slash. */
  private static final Pattern UPWARDS = Pattern.compile("(^|[/\\\\])\\.\\.([/\\\\?#;]|$)");

  private static final Pattern AUTHORITY = Pattern.compile("^[A-Za-z][A-Za-z0-9+.-]*:(//[^/?#]*)?");

  /** Scheme, authority without its slashes, path, and the rest. */
  private static final Pattern PARTS =
      Pattern.compile("([a-z][a-z0-9+.-]*:)(?://([^/?#]*))?([^?#]*)(.*)", Pattern.DOTALL);

  /** Schemes whose addresses browsers and their libraries mend (WHATWG URL, special schemes). */
  private static final Pattern WEB = Pattern.compile("(?i)(https?|wss?|ftp):|file:[^/]");

  private static final Pattern HOST = Pattern.compile("[A-Za-z]+://[^/@?#]+([/?#]|$)");
  private static final Map<String, String> DEFAULT_PORTS =
      Map.of("http:", "80", "ws:", "80", "https:", "443", "wss:", "443", "ftp:", "21");

  /** Encoded dots, slashes, NUL and percent signs, which some servers decode once more. */
  private static final Pattern ENCODED = Pattern.compile("(?i)%(2e|2f|5c|00|25)");

  private Uris() {}

  /**
   * A URI with scheme and host in lower case, and percent-decoded once (RFC 3986 section 6.2.2).
   *
   * @return null if it is ambiguous: with {@code ..} segments, backslashes, control characters,
   *     spaces around it, invalid encoding, or a web address in another form than {@code
   *     scheme://host}, which is read in several ways
   */
  static String normalized(String uri) {
    if (!uri.strip().equals(uri)
        || WEB.matcher(uri).lookingAt() && !HOST.matcher(uri).lookingAt()) {
      return null;
    }
    String decoded = uri.indexOf('%') < 0 ? uri : decoded(uri);
    if (decoded == null || isAmbiguous(decoded) || ENCODED.matcher(decoded).find()) {
      return null;
    }
    Matcher authority = AUTHORITY.matcher(decoded);
    return authority.find()
        ? authority.group().toLowerCase(Locale.ROOT) + decoded.substring(authority.end())
        : decoded;
  }

  /**
   * A form of a URI that many servers read as the same resource: without empty and {@code .}
   * segments, a default port, a user, for files also without {@code localhost}, query and fragment,
   * and in Unicode form NFKC.
   *
   * @return null as {@link #normalized}
   */
  static String canonical(String uri) {
    boolean isFile = uri.regionMatches(true, 0, "file:", 0, 5);
    String resource = isFile ? uri.replaceFirst("[?#].*", "") : uri;
    if (normalized(resource) == null) {
      return null;
    }
    String decoded = Normalizer.normalize(decoded(resource), Normalizer.Form.NFKC);
    Matcher whole = PARTS.matcher(withLowerScheme(decoded));
    if (!whole.matches()) {
      return decoded;
    }
    StringBuilder out = new StringBuilder(whole.group(1));
    if (whole.group(2) != null || isFile) {
      out.append("//").append(host(whole.group(1), whole.group(2)));
    }
    String path = whole.group(3);
    List<String> segments = segments(path);
    out.append(path.startsWith("/") ? "/" : "").append(String.join("/", segments));
    boolean isFolder = path.endsWith("/") || path.endsWith("/.");
    return out.append(isFolder && !segments.isEmpty() ? "/" : "").append(whole.group(4)).toString();
  }

  /** With the scheme in lower case only, since an authority may be a name in any case. */
  static String withLowerScheme(String uri) {
    int colon = Math.max(0, uri.indexOf(':'));
    return uri.substring(0, colon).toLowerCase(Locale.ROOT) + uri.substring(colon);
  }

  private static String host(String scheme, String authority) {
    if (authority == null) {
      return "";
    }
    String host = authority.substring(authority.lastIndexOf('@') + 1);
    String standard = DEFAULT_PORTS.getOrDefault(scheme, "");
    String bare = host.replaceFirst("\\.?(:(" + standard + ")?)?$", "");
    boolean isFile = scheme.equals("file:");
    if (isFile && bare.equalsIgnoreCase("localhost")) {
      return "";
    }
    return isFile || DEFAULT_PORTS.containsKey(scheme) ? bare.toLowerCase(Locale.ROOT) : bare;
  }

  /**
   * Whether a path is below a folder, or the folder itself; undecided if that depends on how the
   * server reads the path.
   */
  static Match isUnder(String folder, String path) {
    boolean isRelative = folder.startsWith("/") && !path.startsWith("/");
    if (isRelative || isAmbiguous(path) || ENCODED.matcher(path).find()) {
      return Match.UNDECIDED;
    }
    List<String> steps = segments(path);
    List<String> start = segments(folder);
    return Match.of(steps.size() >= start.size() && steps.subList(0, start.size()).equals(start));
  }

  private static List<String> segments(String path) {
    return Arrays.stream(path.split("/"))
        .filter(segment -> !segment.isEmpty() && !segment.equals("."))
        .toList();
  }

  /** Also if it is so only in Unicode form NFKC, in which some servers read it. */
  static boolean isAmbiguous(String text) {
    String plain = Normalizer.normalize(text, Normalizer.Form.NFKC);
    return plain.indexOf('\\') >= 0
        || plain.chars().anyMatch(Character::isISOControl)
        || UPWARDS.matcher(plain).find();
  }

  /** Null for invalid encoding. */
  private static String decoded(String uri) {
    byte[] in = uri.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(in.length);
    for (int i = 0; i < in.length; i++) {
      if (in[i] != '%') {
        out.put(in[i]);
      } else if (i + 2 < in.length
          && HexFormat.isHexDigit(in[i + 1])
          && HexFormat.isHexDigit(in[i + 2])) {
        out.put(
            (byte) (16 * HexFormat.fromHexDigit(in[i + 1]) + HexFormat.fromHexDigit(in[i + 2])));
        i += 2;
      } else {
        return null;
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(out.flip()).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
