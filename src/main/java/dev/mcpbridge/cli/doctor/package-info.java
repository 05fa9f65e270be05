/** Examines the machine and the configuration of a bridge, and packs what is needed for support. */
package dev.mcpbridge.cli.doctor;
