package dev.mcpbridge.perf;

import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.TokenForge;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Date;
import java.util.Locale;

/**
 * How long single requests take: the first one with an access token after a start, and calls at
 * servers and tools that the caller must not know, beside calls at missing ones. Medians of the
 * second kind differ only by noise if a caller cannot tell hidden from missing by time.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds (unused).
 */
public final class AccessTimes {
  private static final int STARTS = 9;
  private static final int WARM_UP = 20_000;
  private static final int CALLS = 20_000;

  private AccessTimes() {}

  public static void main(String[] args) throws Exception {
    RSAKey key = TokenForge.rsa("r1");
    String apiKey = ApiKeys.generate();
    try (IssuerStub issuer = IssuerStub.at("/realm", key)) {
      String token =
          TokenForge.sign(
              key,
              TokenForge.claims(issuer.url(), "https://bench.example", "mcp:call")
                  .expirationTime(new Date(System.currentTimeMillis() + 3_600_000))
                  .build());
      firstRequests(args[0], issuer.url(), apiKey, token);
      concealment(args[0], issuer.url(), apiKey);
    }
  }

  private static void firstRequests(String jar, String issuer, String apiKey, String token)
      throws IOException {
    long[] withKey = new long[STARTS];
    long[] withToken = new long[STARTS];
    for (int i = 0; i < STARTS; i++) {
      withKey[i] = firstRequest(jar, issuer, apiKey);
      withToken[i] = firstRequest(jar, issuer, token);
    }
    System.out.printf(
        Locale.ROOT,
        "first request: API key %.0f ms, access token %.0f ms%n",
        percentile(withKey, 0.5) / 1e6,
        percentile(withToken, 0.5) / 1e6);
  }

  private static long firstRequest(String jar, String issuer, String credential)
      throws IOException {
    try (BridgeProcess bridge = BridgeProcess.ofJar(jar, configuration(issuer, credential, ""));
        Client client = new Client(bridge.port(), credential)) {
      return client.time("GET", "/whoami", "200");
    }
  }

  private static void concealment(String jar, String issuer, String apiKey) throws IOException {
    String rules =
        ",\"access\":{\"conceal\":\"all\",\"rules\":[{\"name\":\"one\",\"allow\":[\"call\"],"
            + "\"servers\":[\"seen\"],\"tools\":[\"echo\"]}]}";
    try (BridgeProcess bridge = BridgeProcess.ofJar(jar, configuration(issuer, apiKey, rules));
        Client client = new Client(bridge.port(), apiKey)) {
      String hidden = EchoUpstream.PATH;
      String missing = "/servers/none/tools/echo";
      compare(client, "server", hidden, missing);
      String forbiddenTool = "/servers/seen/tools/blob";
      String missingTool = "/servers/seen/tools/none";
      while (!client.isAnswered("/servers/seen/tools/echo", "200")) {
        Thread.onSpinWait();
      }
      compare(client, "tool", forbiddenTool, missingTool);
    }
  }

  private static void compare(Client client, String what, String hidden, String missing)
      throws IOException {
    long[] hiddenNanos = new long[CALLS];
    long[] missingNanos = new long[CALLS];
    for (int i = -WARM_UP; i < CALLS; i++) {
      long first = client.time("POST", hidden, "404");
      long second = client.time("POST", missing, "404");
      if (i >= 0) {
        hiddenNanos[i] = first;
        missingNanos[i] = second;
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%s: hidden %.1f µs (p25 %.1f, p75 %.1f), missing %.1f µs (p25 %.1f, p75 %.1f)%n",
        what,
        percentile(hiddenNanos, 0.5) / 1e3,
        percentile(hiddenNanos, 0.25) / 1e3,
        percentile(hiddenNanos, 0.75) / 1e3,
        percentile(missingNanos, 0.5) / 1e3,
        percentile(missingNanos, 0.25) / 1e3,
        percentile(missingNanos, 0.75) / 1e3);
  }

  private static double percentile(long[] nanos, double share) {
    Arrays.sort(nanos);
    return nanos[(int) (nanos.length * share)];
  }

  private static String configuration(String issuer, String credential, String access) {
    String server = EchoUpstream.servers();
    return "{\"auth\":{\"publicUrl\":\"https://bench.example\",\"keys\":[{\"name\":\"bench\","
        + "\"scopes\":[\"read\",\"call\"],\"sha256\":\""
        + ApiKeys.fingerprint(credential)
        + "\"}],\"issuers\":[{\"name\":\"i\",\"issuer\":\""
        + issuer
        + "\"}]}"
        + access
        + ","
        + server.replace("{\"echo\":{", "{\"seen\":{").replaceAll("\\}$", ",")
        + server.replaceAll("^\"mcpServers\":\\{", "")
        + "}";
  }

  /** One connection, one request at a time. */
  private static final class Client implements AutoCloseable {
    private static final int MAX_HEAD = 8_192;

    private final Socket socket;
    private final InputStream in;
    private final String headers;

    Client(int port, String credential) throws IOException {
      socket = new Socket("127.0.0.1", port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      headers = "\r\nHost: localhost\r\nAuthorization: Bearer " + credential + "\r\n";
    }

    /** Sends a request and returns the nanoseconds until its response has arrived. */
    long time(String method, String path, String status) throws IOException {
      String body = method.equals("POST") ? "{\"text\":\"x\",\"count\":1}" : "";
      String type = "Content-Type: application/json\r\nContent-Length: " + body.length();
      byte[] request =
          (method + " " + path + " HTTP/1.1" + headers + type + "\r\n\r\n" + body)
              .getBytes(StandardCharsets.US_ASCII);
      long begin = System.nanoTime();
      socket.getOutputStream().write(request);
      String head = response();
      long nanos = System.nanoTime() - begin;
      if (!head.startsWith("HTTP/1.1 " + status)) {
        throw new IOException(path + ": " + head);
      }
      return nanos;
    }

    boolean isAnswered(String path, String status) throws IOException {
      try {
        return time("POST", path, status) > 0;
      } catch (IOException other) {
        if (other.getMessage().contains("HTTP/1.1 503")) {
          return false;
        }
        throw other;
      }
    }

    /** The head of a response; its body is read too. */
    private String response() throws IOException {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0 || head.length() > MAX_HEAD) {
          throw new IOException("no response after " + head);
        }
        head.append((char) next);
      }
      String lower = head.toString().toLowerCase(Locale.ROOT);
      String length = lower.replaceAll("(?s).*content-length: (\\d+).*", "$1");
      in.readNBytes(Integer.parseInt(length));
      return head.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
