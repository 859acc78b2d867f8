export { createVerifier } from './transcript/index.ts';
