# The image of the bridge with Node, Python and uv, for servers that npx and uvx start:
#
#   docker build -f src/deploy/image/tools.Dockerfile --build-arg BRIDGE_IMAGE=mcp-bridge -t mcp-bridge-tools .
#
# The base may be any image with glibc. What it lacks is installed, if it is one of Debian.
ARG BRIDGE_IMAGE=mcp-bridge
ARG BASE_IMAGE=node:22.21.1-bookworm-slim

FROM ${BRIDGE_IMAGE} AS bridge

FROM ${BASE_IMAGE}
ARG UV_VERSION=0.13.9
RUN has() { command -v "$1" >/dev/null; }; has node && has npx && has python3 && has uv || { apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates python3 python3-pip python3-venv \
      $(has npx || echo nodejs npm) && \
    pip3 install --break-system-packages --no-cache-dir "uv==${UV_VERSION}" && rm -rf /var/lib/apt/lists/*; }
COPY --from=bridge /opt/mcp-bridge /opt/mcp-bridge
COPY --from=bridge /usr/bin/tini /usr/bin/tini
COPY --from=bridge /etc/mcp-bridge /etc/mcp-bridge
RUN echo 'mcp-bridge:x:65532:65532:MCP Bridge:/var/lib/mcp-bridge:/sbin/nologin' >>/etc/passwd
COPY --from=bridge --chown=65532:65532 /var/lib/mcp-bridge /var/lib/mcp-bridge
LABEL org.opencontainers.image.title="MCP Bridge" org.opencontainers.image.description="A gateway in front of many tool servers, with Node, Python and uv" org.opencontainers.image.licenses="Apache-2.0"
ENV HOME=/var/lib/mcp-bridge XDG_STATE_HOME=/var/lib
WORKDIR /var/lib/mcp-bridge
VOLUME /var/lib/mcp-bridge
EXPOSE 3000
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=15s CMD ["/opt/mcp-bridge/java/bin/java", "-XX:TieredStopAtLevel=1", "-jar", "/opt/mcp-bridge/mcp-bridge.jar", "health", "--live"]
ENTRYPOINT ["/usr/bin/tini", "--", "/opt/mcp-bridge/java/bin/java", "-XX:MaxRAMPercentage=50", "-jar", "/opt/mcp-bridge/mcp-bridge.jar"]
CMD ["serve", "--config", "/etc/mcp-bridge/bridge.json", "--grace", "20"]
