/**
 * Containers: the client of the container engine, transports to containers, and pools of started
 * containers for calls at risk level 3. This is the only package that uses docker-java.
 */
package dev.mcpbridge.sandbox;
