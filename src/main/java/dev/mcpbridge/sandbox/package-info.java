/**
 * Containers: the engine that runs them, the streams into them, and the pools of those that stand
 * ready for calls at risk level 3. The only user of docker-java.
 */
package dev.mcpbridge.sandbox;
