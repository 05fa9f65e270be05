// Generates a typed client from a served document, type-checks a program against it, and runs it.
// Arguments: the URL of the document, the program, a folder for the generated files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const [address, program, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const document = await (await fetch(address)).text();
writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(document)));
writeFileSync(join(folder, 'program.ts'), readFileSync(program, 'utf8'));
const files = ts.createProgram([join(folder, 'program.ts')], {
  strict: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
  outDir: folder,
});
const emitResult = files.emit();
const diagnostics = ts.getPreEmitDiagnostics(files).concat(emitResult.diagnostics);
const problems = diagnostics.map((d) => ts.flattenDiagnosticMessageText(d.messageText, '\n'));
if (problems.length > 0) {
  console.log(JSON.stringify({ problems }));
} else {
  const { run } = await import(pathToFileURL(join(folder, 'program.js')).href);
  const server = JSON.parse(document).servers[0].url;
  console.log(JSON.stringify({ problems, result: await run(server) }));
}
