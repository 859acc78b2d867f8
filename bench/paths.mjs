/**
 * Where things are in the project.
 *
 * @module
 */
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
export const PEERS = fileURLToPath(new URL('peers', import.meta.url));
