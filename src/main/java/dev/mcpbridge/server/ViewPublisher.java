package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.transport.ServerLog;
import io.vertx.core.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;

/** Publishes what happens to an instance of a server: its views, events and log messages. */
final class ViewPublisher implements Upstream.Listener {
  private static final Logger LOG = System.getLogger(ViewPublisher.class.getName());
  private static final int MAX_WARNINGS = 5;

  private final Bus bus;
  private final InstanceId instanceId;
  private final ServerLog serverLog;
  private String lastState = "";
  private String lastDigest = "";
  private boolean hasFailed;

  ViewPublisher(Bus bus, InstanceId instanceId, ServerLog serverLog) {
    this.serverLog = serverLog;
    this.bus = bus;
    this.instanceId = instanceId;
  }

  /** Publishes the view again for a node that has just connected. */
  void publishAgain(ServerView view) {
    bus.publish(Addresses.INSTANCE_CHANGED, view);
  }

  @Override
  public void changed(ServerView view) {
    bus.publish(Addresses.INSTANCE_CHANGED, view);
    publishState(view);
    publishCatalogue(view);
  }

  @Override
  public void callEvent(Call call, String name, JsonSlice params) {
    bus.publish(Addresses.callEvents(call.id()), new CallEvent(name, params));
  }

  @Override
  public void resourceUpdated(String conversation, String uri, JsonSlice params) {
    bus.publish(
        Addresses.RESOURCE_UPDATED,
        new ResourceUpdate(instanceId.server(), conversation, uri, params));
  }

  @Override
  public Future<JsonSlice> serverRequest(Call call, ServerRequest serverRequest) {
    return bus.request(Addresses.clientRequest(call.id()), serverRequest);
  }

  private void publishState(ServerView view) {
    if (!lastState.equals(view.state().apiName())) {
      lastState = view.state().apiName();
      log(view);
      JsonWriter event =
          new JsonWriter()
              .beginObject()
              .member("server", view.id().name())
              .member("state", lastState);
      addInstance(event);
      if (view.lastError() != null) {
        event.member("last_error", view.lastError().reason());
      }
      publishEvent("server", event.endObject());
      record(view);
      notifyOfFailure(view);
    }
  }

  /** Once when it fails, and once when it is ready again, whatever it tries between them. */
  private void notifyOfFailure(ServerView view) {
    boolean isReady = view.state() instanceof ServerState.Ready;
    if (isFailure(view) && !hasFailed || isReady && hasFailed) {
      hasFailed = !isReady;
      bus.offer(Addresses.NOTICES, () -> notice(view));
    }
  }

  private Notice notice(ServerView view) {
    JsonWriter data =
        new JsonWriter()
            .beginObject()
            .member("server_id", view.id().name())
            .member("instance", instanceId.number())
            .member("state", lastState);
    if (hasFailed && view.lastError() != null) {
      data.bounded("reason", view.lastError().reason(), Notice.MAX_TEXT);
    }
    return new Notice(
        hasFailed ? Notice.Type.SERVER_FAILED : Notice.Type.SERVER_RECOVERED,
        view.id().name(),
        data.endObject().toSlice(),
        null);
  }

  private static boolean isFailure(ServerView view) {
    return view.state() instanceof ServerState.Failed
        || view.state() instanceof ServerState.Degraded;
  }

  private void record(ServerView view) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            new AuditRecord("server")
                .with("server", view.id().name())
                .with("instance", instanceId.number())
                .with("state", lastState)
                .with("program", view.program())
                .with("reason", view.lastError() == null ? null : view.lastError().reason()));
  }

  private void log(ServerView view) {
    boolean failed = isFailure(view);
    long pid = view.pids().isEmpty() ? 0 : view.pids().get(0);
    serverLog.add(
        "bridge", pid, "state " + lastState + (failed ? ": " + view.lastError().reason() : ""));
    LOG.log(
        failed ? Level.WARNING : Level.INFO,
        () ->
            "server="
                + instanceId
                + " state="
                + lastState
                + " pids="
                + view.pids()
                + (failed ? " reason=" + view.lastError().describe() : ""));
  }

  private void publishCatalogue(ServerView view) {
    if (view.isDiscovered() && !lastDigest.equals(view.catalogue().digest())) {
      lastDigest = view.catalogue().digest();
      JsonWriter event =
          new JsonWriter()
              .beginObject()
              .member("server", view.id().name())
              .member("tools", view.catalogue().tools().size());
      addInstance(event);
      publishEvent("catalogue", event.endObject());
      view.catalogue().warnings().entrySet().stream().limit(MAX_WARNINGS).forEach(this::warn);
    }
  }

  private void warn(Map.Entry<String, List<String>> toolWarnings) {
    LOG.log(
        Level.WARNING,
        () ->
            "server="
                + instanceId
                + " tool="
                + HiddenCharacters.escaped(toolWarnings.getKey())
                + " warning="
                + String.join("; ", toolWarnings.getValue()));
  }

  /** Adds the number of the instance if it is not the first. */
  private void addInstance(JsonWriter event) {
    if (instanceId.number() > 1) {
      event.member("instance", instanceId.number());
    }
  }

  private void publishEvent(String name, JsonWriter event) {
    bus.publish(
        Addresses.EVENTS, new BridgeEvent(name, event.toSlice(), null, instanceId.server(), null));
  }
}
