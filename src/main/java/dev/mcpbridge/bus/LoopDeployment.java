package dev.mcpbridge.bus;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.deployment.Deployment;
import io.vertx.core.internal.deployment.DeploymentContext;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * The deployment of one verticle on the event loop of a bridge. Vert.x knows it as one of its own:
 * timers and consumers end with a deployment that it knows.
 */
final class LoopDeployment implements Deployment {
  private final EventLoop loop;
  private final Deployable verticle;
  private final CloseFuture opened = new CloseFuture();
  private volatile ContextInternal context;

  LoopDeployment(EventLoop loop, Deployable verticle) {
    this.loop = loop;
    this.verticle = verticle;
  }

  /** Where the verticle runs; null before {@link #deploy}. */
  ContextInternal context() {
    return context;
  }

  @Override
  public Future<?> deploy(DeploymentContext deployment) {
    context = loop.newContext(deployment.id(), opened);
    return run(() -> verticle.deploy(context));
  }

  @Override
  public Future<?> undeploy() {
    return run(() -> verticle.undeploy(context)).eventually(opened::close);
  }

  @Override
  public Future<?> cleanup() {
    return opened.close();
  }

  private Future<?> run(Callable<Future<?>> task) {
    Promise<Object> done = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            task.call().onComplete(done::complete, done::fail);
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  @Override
  public Set<Context> contexts() {
    return Set.of(context);
  }

  @Override
  public Set<Deployable> instances() {
    return Set.of(verticle);
  }

  @Override
  public DeploymentOptions options() {
    return new DeploymentOptions();
  }

  @Override
  public String identifier() {
    return verticle.getClass().getName();
  }
}
