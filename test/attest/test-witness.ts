/**
 * A witness (C2SP tlog-witness) for tests: what it answers, and a server on loopback that says it.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Checkpoint, parseCheckpoint } from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { checkConsistency } from '../../src/evidence/merkle.ts';
import { type SignerKey, type VerifierKey } from '../../src/evidence/note-key.ts';
import { checkNote, cosignNote } from '../../src/evidence/note-signature.ts';
import {
  type AddCheckpoint,
  encodeCosignatures,
  encodeTreeSize,
  parseAddCheckpoint,
  TREE_SIZE_TYPE,
} from '../../src/evidence/witness.ts';

/** What an answer of HTTP consists of. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly location?: string;
  readonly body: string | Uint8Array;
}

/** A witness with its own key, the keys of each origin that it knows, and what it last saw of each. */
export class TestWitness {
  readonly #key: SignerKey;
  readonly #logs: Readonly<Record<string, readonly VerifierKey[]>>;
  /** The last checkpoint of each origin; pass it to another to restart. */
  readonly latest: Map<string, Checkpoint>;
  /** The seconds of Unix time that it cosigns with. */
  time = 1_700_000_000;

  constructor(
    key: SignerKey,
    logs: Readonly<Record<string, readonly VerifierKey[]>>,
    latest: Map<string, Checkpoint> = new Map(),
  ) {
    this.#key = key;
    this.#logs = logs;
    this.latest = latest;
  }

  /** What the specification says to a request's body. */
  async answer(body: string | Uint8Array): Promise<Answer> {
    let request: AddCheckpoint;
    try {
      request = parseAddCheckpoint(body);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      return { status: 400, body: `${error.message}\n` };
    }
    const { origin } = parseCheckpoint(request.note.text);
    const keys = this.#logs[origin];
    if (keys === undefined) return { status: 404, body: 'unknown log\n' };
    const signed = await checkNote(request.note, keys, nodeEd25519);
    if (!signed.ok) return { status: 403, body: 'invalid signature\n' };
    return this.#judge(request);
  }

  /** From reading the latest checkpoint to storing the next nothing is awaited: no other request comes between. */
  #judge({ oldSize, consistency, note }: AddCheckpoint): Answer {
    const checkpoint = parseCheckpoint(note.text);
    const latest = this.latest.get(checkpoint.origin);
    const size = latest?.size ?? 0;
    const isOther =
      size === checkpoint.size &&
      latest !== undefined &&
      !Buffer.from(latest.root).equals(checkpoint.root);
    if (oldSize !== size || isOther) {
      return { status: 409, type: TREE_SIZE_TYPE, body: encodeTreeSize(size) };
    }
    if (!isConsistent(latest, checkpoint, consistency)) {
      return { status: 422, body: 'the consistency proof is wrong\n' };
    }
    this.latest.set(checkpoint.origin, checkpoint);
    const { signatures } = cosignNote(
      { ...note, signatures: [] },
      this.#key,
      this.time,
      nodeEd25519,
    );
    return { status: 200, body: encodeCosignatures(signatures) };
  }
}

function isConsistent(
  latest: Checkpoint | undefined,
  { size, root }: Checkpoint,
  path: readonly Uint8Array[],
): boolean {
  if (latest === undefined || latest.size === 0) return path.length === 0;
  return checkConsistency(
    { size1: latest.size, root1: latest.root, size2: size, root2: root },
    path,
  );
}

/** A server on loopback that keeps what it was asked. */
export interface TestServer {
  readonly url: string;
  readonly requests: { method: string; path: string; type: string; body: Buffer }[];
  readonly server: Server;
  close(): Promise<void>;
}

/** Serves answers; one that never comes is a server that hangs. */
export async function serve(
  answer: (body: Buffer) => Answer | Promise<Answer>,
): Promise<TestServer> {
  const requests: TestServer['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, type: headers['content-type'] ?? '', body });
      void Promise.resolve(answer(body)).then(
        ({ status, type = 'text/plain', location, body: said }) => {
          response.writeHead(status, {
            'content-type': type,
            ...(location === undefined ? {} : { location }),
          });
          response.end(said);
        },
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}`, requests, server, close };
}
