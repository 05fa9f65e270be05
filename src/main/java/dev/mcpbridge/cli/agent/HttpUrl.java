package dev.mcpbridge.cli.agent;

import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option to an HTTP or HTTPS URL; null for an empty text. Stateless. */
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
      // reported below
    }
    throw new TypeConversionException("'" + text + "' is not a URL such as http://127.0.0.1:3000");
  }
}
