/**
 * Who holds a lock, and whether that process is provably gone.
 *
 * @module
 */
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
 * free, a zombie's, or another process's by now. Any doubt, such as an unknown start or a process id of
 * another container, means that it may live.
 */
export function isGone(owner: Owner): boolean {
  const self = thisProcess();
  if (owner.host !== self.host) return false;
  if (owner.started === null || self.started === null) return !exists(owner.pid);
  if (owner.started.boot !== self.started.boot) return true;
  if (owner.started.namespace !== self.started.namespace) return false;
  if (!exists(owner.pid)) return true;
  const now = statFields(owner.pid);
  if (now === null) return false;
  return now.state === 'Z' || now.state === 'X' || now.ticks !== owner.started.ticks;
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
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
      namespace: readlinkSync('/proc/self/ns/pid'),
      ticks: stat.ticks,
    };
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
  return { boot, namespace, ticks };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
