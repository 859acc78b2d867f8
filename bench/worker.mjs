/**
 * The worker's side of a benchmark: a process that does one named job per request and says how long it took.
 *
 * Requests and replies are JSON, one a line. Replies are marked, as some libraries print warnings.
 *
 * @module
 */
import { createInterface } from 'node:readline';

/**
 * Answers requests from standard input until it ends. A job gets its request, does its own preparation,
 * and returns the seconds of what is measured.
 *
 * @param {Record<string, (request: any) => number | Promise<number>>} jobs
 */
export async function serve(jobs) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let reply;
    try {
      reply = { seconds: await jobs[request.job](request) };
    } catch (error) {
      reply = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    process.stdout.write(`=> ${JSON.stringify(reply)}\n`);
  }
}

/**
 * The seconds that `work` takes.
 *
 * @param {() => unknown} work
 */
export async function timed(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
