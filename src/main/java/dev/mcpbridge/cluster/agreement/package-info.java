/**
 * How nodes agree on one sequence of commands and on who may act, with nothing but messages and
 * clocks of about the same speed: Viewstamped Replication Revisited (Liskov and Cowling, MIT-CSAIL-
 * TR-2012-021), which needs no disk that survives a restart, with the crash vectors of "Recovering
 * Shared Objects Without Stable Storage" (Michael et al., DISC 2017) and leases.
 *
 * <p>No socket, no thread and no timer here: time comes in with every call, messages go out through
 * an interface, so that a test can play thousands of schedules in a second.
 */
package dev.mcpbridge.cluster.agreement;
