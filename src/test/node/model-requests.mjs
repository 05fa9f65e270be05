// Checks requests to models against the types that their providers publish.
// Arguments: a file with [[kind, request as JSON text], ...], a folder beside the packages.
// Prints a JSON array with the problems of each request.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const [list, folder] = process.argv.slice(2);
const types = {
  OPENAI: 'ChatCompletionCreateParamsStreaming',
  STRUCTURED: 'ChatCompletionCreateParamsNonStreaming',
  ANTHROPIC: 'MessageCreateParamsStreaming',
  GEMINI: 'GenerateContent',
};
// Gemini's SDK declares enums; its API uses their names as strings, case-insensitively.
const head = `
import type { ChatCompletionCreateParamsStreaming, ChatCompletionCreateParamsNonStreaming }
  from 'openai/resources/chat/completions';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai';
type Wire<T> = T extends string ? \`\${T}\` | Lowercase<\`\${T}\`>
  : T extends (infer E)[] ? Wire<E>[]
  : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;
type GenerateContent = { contents: Wire<Content>[]; systemInstruction?: Wire<Content>; tools?: Wire<Tool>[];
  toolConfig?: Wire<ToolConfig>; generationConfig?: Wire<GenerationConfig> };
`;
const headLines = head.split('\n').length - 1;
const requests = JSON.parse(readFileSync(list, 'utf8'));
mkdirSync(folder, { recursive: true });
const file = join(folder, 'requests.ts');
writeFileSync(file, head + requests
  .map(([kind, text], i) => `export const r${i}: ${types[kind]} = ${text};\n`).join(''));
const program = ts.createProgram([file], {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
  types: [],
});
const problems = requests.map(() => []);
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
  const line = diagnostic.file?.fileName.endsWith('requests.ts')
    ? diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start).line - headLines : -1;
  if (!(line in problems)) throw new Error(`${diagnostic.file?.fileName} ${line}: ${text}`);
  problems[line].push(text);
}
console.log(JSON.stringify(problems));
