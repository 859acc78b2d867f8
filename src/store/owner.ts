/**
 * Who holds a lock, and whether that process is provably gone.
 *
 * @module
 */
import { createHmac } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './store-errors.ts';

/** A process, named so that no other can be taken for it. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When it started; null where the system doesn't say. */
  readonly started: Started | null;
}

/** Linux's own words for when and where a process started: a process id alone is used again. */
export interface Started {
  /** The machine, as far as it has an id: another one may have the same host name. */
  readonly machine: string | null;
  /** The boot of the machine: `/proc/sys/kernel/random/boot_id`. */
  readonly boot: string;
  /** The namespace in which the process id counts: containers may share host name and boot. */
  readonly namespace: string;
  /** Clock ticks since the boot: field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)). */
  readonly ticks: string;
}

/** This process. */
export function thisProcess(): Owner {
  return { pid: process.pid, host: hostname(), started: startOf(process.pid) };
}

/** The owner that a lock file's text names; null if it names none. */
export function parseOwner(text: string): Owner | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const pid = field(value, 'pid');
  const host = field(value, 'host');
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1) return null;
  if (typeof host !== 'string' || host === '') return null;
  return { pid, host, started: parseStarted(field(value, 'started')) };
}

/**
 * Whether a process is provably gone: it was on this host, and the machine has booted since, or its id is
 * free, a zombie's, or another process's by now. Any doubt, such as a process id of another container, or
 * another boot of what may be another machine of the same name, means that it may live. Only where the
 * system says nothing of starts (it isn't Linux) is the host's name believed.
 */
export function isGone(owner: Owner): boolean {
  const self = thisProcess();
  if (owner.host !== self.host) return false;
  const [was, here] = [owner.started, self.started];
  if (was === null || here === null) return was === here && !exists(owner.pid);
  if (was.boot !== here.boot) return was.machine !== null && was.machine === here.machine;
  if (was.namespace !== here.namespace) return false;
  if (!exists(owner.pid)) return true;
  const now = statFields(owner.pid);
  if (now === null) return false;
  return now.state === 'Z' || now.state === 'X' || now.ticks !== was.ticks;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM says that it exists and belongs to somebody else.
    return codeOf(error) !== 'ESRCH';
  }
}

function startOf(pid: number): Started | null {
  const stat = statFields(pid);
  if (stat === null) return null;
  try {
    return {
      machine: machineId(),
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
      namespace: readlinkSync('/proc/self/ns/pid'),
      ticks: stat.ticks,
    };
  } catch {
    return null;
  }
}

/** A hash of machine-id(5), which asks not to show the id itself; null where there is none. */
function machineId(): string | null {
  try {
    const id = readFileSync('/etc/machine-id', 'latin1').trim();
    if (!/^[0-9a-f]{32}$/.test(id)) return null;
    return createHmac('sha256', id).update('hashtape lock').digest('hex').slice(0, 32);
  } catch {
    return null;
  }
}

/** State and start of a process on Linux; null elsewhere. The command's name may hold anything but ends at the last `)`. */
function statFields(pid: number): { readonly state: string; readonly ticks: string } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // Field 3 is the first after the name, so field 22 has index 19.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  return state === undefined || ticks === undefined ? null : { state, ticks };
}

function parseStarted(value: unknown): Started | null {
  const [boot, namespace, ticks] = ['boot', 'namespace', 'ticks'].map((key) => field(value, key));
  if (typeof boot !== 'string' || typeof namespace !== 'string' || typeof ticks !== 'string') {
    return null;
  }
  // Older locks don't name the machine.
  const machine = field(value, 'machine');
  return { machine: typeof machine === 'string' ? machine : null, boot, namespace, ticks };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
