/**
 * `hashtape demo`.
 *
 * @module
 */
import { type Command } from 'commander';
import { type Io } from './io.ts';

const HELP = `
It runs small tasks with a scripted model, verifies what they recorded, runs them
again byte for byte, damages a copy and names the record that was damaged. Its
transcripts stay in a folder that it names. It exits 0 only if every claim held.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command.addHelpText('after', HELP).action(async () => {
    const { demo } = await import('./demo.ts');
    exit(await demo(io.out));
  });
}
