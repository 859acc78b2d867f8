/**
 * Where transcripts live: in memory, in a file, or in any place that keeps the contract of
 * {@link TranscriptStore}.
 *
 * @module
 */
export { createTranscript, openTranscript, type FileOptions, type OpenOptions } from './file.ts';
export { type Durability } from './append-file.ts';
export { memoryStore } from './memory.ts';
export { readRecords } from './read.ts';
export { StoreError, type StoreErrorCode, type TranscriptStore } from './store.ts';
export { verifyFile, type VerifyFileOptions } from './verify-file.ts';
