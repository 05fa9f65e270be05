/** Named views of the servers: what of them is offered, and how their tools look. */
package dev.mcpbridge.profile;
