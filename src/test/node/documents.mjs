// Validates OpenAPI documents and compiles each of their schemas with third-party tools. Prints the
// problems as a JSON array. Argument: a JSON file with a list of document paths.
import { readFileSync } from 'node:fs';
import SwaggerParser from '@apidevtools/swagger-parser';
import Ajv from 'ajv/dist/2020.js';

const files = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const problems = [];
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  try {
    await SwaggerParser.validate(JSON.parse(text));
  } catch (e) {
    problems.push(`${file}: ${e.message}`);
  }
  const document = JSON.parse(text);
  const ajv = new Ajv({ strict: false, validateSchema: true, validateFormats: false, logger: false });
  ajv.addSchema({ $id: 'document:all', components: document.components }, undefined, false, false);
  for (const name of Object.keys(document.components.schemas)) {
    try {
      const schema = document.components.schemas[name];
      if (!ajv.validateSchema(schema)) {
        throw new Error(ajv.errorsText());
      }
      ajv.compile({ $ref: `document:all#/components/schemas/${name}` });
    } catch (e) {
      problems.push(`${file}: ${name}: ${e.message}`);
    }
  }
}
console.log(JSON.stringify(problems));
