package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that are given up before there is a connection for them. */
class GivenUpCallsIT {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void aCallThatWasGivenUpBeforeItWasSentIsNotSent(String era) throws Exception {
    Path effects = folder.resolve("effects");
    Files.writeString(effects, "");
    String risk = "'risk':{'tools':{'effect':1}}";
    try (TestBridge behind =
            TestBridge.scripted("'maxInFlight':1000,'env':{'EFFECTS':'" + effects + "'}," + risk);
        TestBridge front =
            TestBridge.of(
                "{'mcpServers':{'s':{'url':'"
                    + behind.uri("/servers/s/mcp")
                    + "','era':'"
                    + era
                    + "','maxInFlight':1000,'heartbeat':0,'timeout':20,"
                    + "'tools':{'effect':{'timeout':0.4}},"
                    + risk
                    + "}}}")) {
      front.until(() -> front.call("echo", "{}").status() == 200);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        calls.add(front.callLater("sleep", "{\"ms\":3000}"));
      }
      front.until(() -> behind.get("/servers/s").body().path("pending_calls").asInt() > 250);
      Answer late = front.call("effect", "{}");
      assertEquals(504, late.status());
      for (CompletableFuture<Answer> call : calls) {
        call.get(30, TimeUnit.SECONDS);
      }
      front.until(() -> front.call("echo", "{}").status() == 200);
      behind.until(() -> behind.get("/servers/s").body().path("pending_calls").asInt() == 0);

      assertEquals(0, Files.readAllLines(effects).size());
    }
  }
}
