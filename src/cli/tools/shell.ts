/**
 * The built-in tool `run_command`: `--with shell`. It is not confined to the root: a shell can do whatever the user can.
 *
 * @module
 */
import { tool } from '../../run/define-tool.ts';
import { type AnyTool } from '../../run/tool.ts';
import { type JsonObject } from '../../transcript/index.ts';
import { CappedText } from './capped-text.ts';
import { runCommand } from './process-group.ts';
import { type Root } from './root.ts';

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;

/** The tool. Commands start in the root folder. */
export function shellTool(root: Root): AnyTool {
  return tool({
    name: 'run_command',
    description: `Runs a shell command (sh) in the root folder, without input, for at most timeout_seconds (default ${DEFAULT_SECONDS}). Long output is cut in the middle. Processes left in the background end with the command.`,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        timeout_seconds: { type: 'integer', minimum: 1, maximum: MAX_SECONDS },
      },
      required: ['command'],
      additionalProperties: false,
    },
    parallel: false,
    // The command's own limit comes first.
    timeout: (MAX_SECONDS + 60) * 1000,
    // Two capped outputs, of which JSON may escape every byte.
    maxResultBytes: 1024 * 1024,
    execute: ({ command, timeout_seconds: seconds }, { signal }) =>
      shell(String(command), Number(seconds ?? DEFAULT_SECONDS), root, signal),
  });
}

async function shell(
  command: string,
  seconds: number,
  root: Root,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (command.includes('\0')) throw new Error('a command must not hold a NUL character');
  const output = { stdout: new CappedText(), stderr: new CappedText() };
  const ended = await runCommand(command, {
    cwd: root.path,
    signal,
    milliseconds: seconds * 1000,
    onOutput: (stream, bytes) => output[stream].add(bytes),
  });
  return {
    exit_code: ended.exitCode,
    ...(ended.signal === null ? {} : { signal: ended.signal }),
    ...(ended.timedOut ? { timed_out_after_seconds: seconds } : {}),
    ...outputMembers('stdout', output.stdout),
    ...outputMembers('stderr', output.stderr),
  };
}

function outputMembers(name: string, output: CappedText): JsonObject {
  return {
    [name]: output.text(),
    ...(output.leftOut === 0 ? {} : { [`${name}_bytes_left_out`]: output.leftOut }),
  };
}
