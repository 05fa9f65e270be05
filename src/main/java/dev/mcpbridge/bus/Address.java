package dev.mcpbridge.bus;

/**
 * Where one kind of question is answered.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public record Address<Q, A>(String name) {}
