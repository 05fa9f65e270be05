/** JSON Schema validation with bounds on the cost of a schema, a value and a caller. */
package dev.mcpbridge.validation;
