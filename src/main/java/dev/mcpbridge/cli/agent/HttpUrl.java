package dev.mcpbridge.cli.agent;

import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * An address that requests can be sent to; null for an empty text, and anything else is a wrong
 * option. Stateless.
 */
public final class HttpUrl implements ITypeConverter<URI> {

  @Override
  public URI convert(String text) {
    if (text.isBlank()) {
      return null;
    }
    try {
      URI url = new URI(text);
      boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (isHttp && url.getHost() != null && url.getPort() <= 65_535) {
        return url;
      }
    } catch (URISyntaxException e) {
      // said below
    }
    throw new TypeConversionException("'" + text + "' is no URL such as http://127.0.0.1:3000");
  }
}
