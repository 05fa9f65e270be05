package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.model.Notice;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebhookConfigTest {
  private static final String KEY = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

  private static BridgeConfig read(String webhook) {
    String config = "{'webhooks':[" + webhook.replace("KEY", KEY) + "],'mcpServers':{}}";
    return new ConfigReader(Map.of("TOKEN", "t0ken"))
        .read(config.replace('\'', '"'), Strictness.ALL_OR_NOTHING);
  }

  @Test
  void aReceiverHasAllEventsButCheckpointsAndNoArgumentsByDefault() {
    WebhookConfig webhook = read("{'url':'https://x/y','secrets':['KEY']}").webhooks().get(0);

    Set<String> events = new HashSet<>(Notice.Type.apiNames());
    events.remove("audit.checkpoint");
    assertEquals(events, webhook.events());
    assertFalse(webhook.withArguments());
    assertEquals(24, webhook.secrets().get(0).bytes().length);
    assertFalse(webhook.toString().contains("AAEC"), webhook.toString());
  }

  @Test
  void anUnencryptedReceiverOnAnotherMachineIsAWarning() {
    BridgeConfig far = read("{'url':'http://far/y','secrets':['KEY']}");
    BridgeConfig pretended = read("{'url':'http://127.0.0.1.evil.example/y','secrets':['KEY']}");
    BridgeConfig near = read("{'url':'http://127.0.0.1:80/y','secrets':['KEY']}");

    assertTrue(far.warnings().toString().contains("webhooks[0].url"), far.warnings().toString());
    assertEquals(1, pretended.warnings().size());
    assertEquals("[]", near.warnings().toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'secrets':['KEY']} | webhooks[0].url: is required",
        "{'url':'x/y','secrets':['KEY']} | webhooks[0].url: expected an http or https URL",
        "{'url':'https://x/y'} | webhooks[0].secrets: is required",
        "{'url':'https://x/y','secrets':[]} | webhooks[0].secrets",
        "{'url':'https://x/y','secrets':['abc']} | webhooks[0].secrets[0]: expected \"whsec_\"",
        "{'url':'https://x/y','secrets':['whsec_#']} | webhooks[0].secrets[0]: expected \"whsec_\"",
        "{'url':'https://x/y','secrets':['whsec_AAAA']} | webhooks[0].secrets[0]: expected",
        "{'url':'https://x/y','secrets':['KEY'],'events':['all']} | webhooks[0].events[0]",
        "{'url':'https://x/y','secrets':['KEY'],'headers':{'a b':'c'}} | webhooks[0].headers.a b",
        "{'url':'https://x/y','secrets':['KEY'],'headers':{'a':'b\\nc'}} | webhooks[0].headers.a",
        "{'url':'https://user:pass@x/y','secrets':['KEY']} | webhooks[0].url: expected http",
        "{'url':'https://x/y','secret':'KEY'} | did you mean secrets?"
      })
  void aMistakeIsNamed(String webhook, String message) {

    Exception e = assertThrows(ConfigException.class, () -> read(webhook));

    assertTrue(e.getMessage().contains(message), e.getMessage());
    assertFalse(e.getMessage().contains(KEY), e.getMessage());
  }

  @Test
  void aUrlThatContainsASecretIsNotRepeated() {
    String webhook = "{'url':'https://x y/${env:TOKEN}','secrets':['KEY']}";

    Exception e = assertThrows(ConfigException.class, () -> read(webhook));

    assertFalse(e.getMessage().contains("t0ken"), e.getMessage());
  }
}
