package dev.mcpbridge.http;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.ArgumentValidator;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallerCredentials;
import dev.mcpbridge.call.ConsentTickets;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.OutputSchemaCheck;
import dev.mcpbridge.call.PinnedDefinitions;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.oauth.TokenExchange;
import dev.mcpbridge.pins.PinRecords;
import dev.mcpbridge.pins.PinStore;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Vertx;
import java.time.Clock;

/** The services that the doors share. */
record CallServices(
    Directory directory,
    AccessControl access,
    ConsentTickets consents,
    UpstreamCredentials credentials,
    PinnedDefinitions pins,
    ArgumentValidator schemas,
    CallPipeline pipeline) {

  static CallServices of(Vertx vertx, HttpVerticle.Dependencies deps, Identities identities) {
    PinStore store =
        new PinStore(
            vertx,
            deps.cluster().map("pins"),
            deps.cluster(),
            deps.config().pins().file(),
            new PinRecords(record -> deps.bus().offer(Addresses.AUDIT, () -> record)));
    Pins pins = new Pins(store, Clock.systemUTC(), deps.config().pins());
    Directory directory = new Directory(deps.bus(), deps.cluster(), pins);
    ConsentTickets consents =
        new ConsentTickets(
            vertx,
            deps.bus(),
            CredentialStore.ofConsents(deps.cluster()),
            identities.url(),
            identities::canAgree);
    AccessControl access =
        new AccessControl(
            directory,
            consents,
            deps.bus().telemetry().counts(),
            deps.config().access(),
            earlier -> identities.authenticator().get().renewed(earlier));
    directory.open();
    UpstreamCredentials credentials =
        new UpstreamCredentials(
            CredentialStore.of(deps.config().credentials(), deps.cluster()), identities::address);
    LimitsConfig.Validation limits = deps.config().limits().validation();
    SchemaValidator validator = new SchemaValidator(vertx, limits.steps(), limits.millis());
    ArgumentValidator schemas =
        new ArgumentValidator(
            validator, limits.refusesOverBudget(), deps.bus().telemetry().counts());
    OutputSchemaCheck outputs =
        new OutputSchemaCheck(validator, deps.bus(), deps.bus().telemetry().counts());
    return new CallServices(
        directory,
        access,
        consents,
        credentials,
        new PinnedDefinitions(pins, store, directory, access),
        schemas,
        new CallPipeline(
            deps.bus(),
            access,
            schemas,
            outputs,
            new CallerCredentials(
                credentials, new TokenExchange(vertx, identities::target), consents),
            new CallPipeline.Limits(
                deps.memory(), deps.callerLimits().quotas(), deps.callerLimits().urgencies(), pins),
            deps.bus().telemetry().counts()));
  }
}
