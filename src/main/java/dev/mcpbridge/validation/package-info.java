/** JSON Schema validation with a bound on what one schema, one value and one caller may cost. */
package dev.mcpbridge.validation;
