/**
 * `hashtape key`: the key that signs checkpoints.
 *
 * @module
 */
import { type Command } from 'commander';
import { keyPath, newKey, readKeyring, rotateKey, rotationsPath } from '../attest/key-file.ts';
import { placesIn } from '../attest/places.ts';
import { encodeVerifierKey, EvidenceError } from '../evidence/index.ts';
import { CommandError, type Io } from './io.ts';
import { oneLine } from './words.ts';

const HELP = `
The first run makes a key. It signs checkpoints: statements that a log had
this size and this Merkle root. Its secret is one file, which nobody else may
read; what \`show\` prints is public, and whoever verifies your transcripts
elsewhere gives it:

  hashtape verify FILE --key VKEY

\`rotate\` replaces the key. The old one signs that, its secret is deleted, and
what it signed before still counts, also what somebody who has its secret
signs now. Who verifies your earlier runs elsewhere needs the earlier keys
too: \`show\` prints them as \`before:\`. If a key is known to others, move the
folder of the key away: then only a new key is yours.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  const { config } = placesIn(io.env);
  const named = '-n, --name <name>';
  const nameHelp = 'what the key is called: no spaces, no plus (default: hashtape- and 8 digits)';
  command.addHelpText('after', HELP);
  command
    .command('show', { isDefault: true })
    .description('print the public key, and where the secret one is')
    .action(() => finish(show(config, io)));
  command
    .command('new')
    .description('make a key where there is none yet')
    .option(named, nameHelp)
    .action(({ name }: { name?: string }) => finish(make(config, name, io)));
  command
    .command('rotate')
    .description('replace the key by a new one')
    .option(named, nameHelp)
    .action(({ name }: { name?: string }) => finish(rotate(config, name, io)));

  async function finish(act: Promise<void>): Promise<void> {
    try {
      await act;
      exit(0);
    } catch (error) {
      if (error instanceof EvidenceError) throw new CommandError(error.message, { cause: error });
      throw error;
    }
  }
}

async function show(config: string, io: Io): Promise<void> {
  const ring = await readKeyring(config);
  if (ring === null) {
    throw new CommandError('there is no key yet: the first run makes one, or `hashtape key new`');
  }
  const [current, ...earlier] = ring.known.map(encodeVerifierKey);
  io.out.line(oneLine(current ?? ''));
  // Not on stdout: what is there is one key, for --key.
  for (const vkey of earlier) io.err.line(`before: ${oneLine(vkey)}`);
  io.err.line(`the secret key is in ${oneLine(keyPath(config))}`);
}

async function make(config: string, name: string | undefined, io: Io): Promise<void> {
  if ((await readKeyring(config)) !== null) {
    throw new CommandError(
      `there is a key already, in ${oneLine(keyPath(config))}: \`hashtape key rotate\` replaces it`,
    );
  }
  await newKey(config, name);
  await show(config, io);
}

async function rotate(config: string, name: string | undefined, io: Io): Promise<void> {
  await rotateKey(config, name);
  await show(config, io);
  io.err.line(`the old key signed this change: ${oneLine(rotationsPath(config))}`);
  io.err.line(
    'whoever verifies your earlier runs elsewhere needs the keys before too: --key VKEY for each',
  );
}
