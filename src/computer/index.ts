/**
 * Computer use: episodes on a screen, their audit log, and the watchdog.
 *
 * @module
 */
export { describe, type Action, type Direction, type ScreenAction, type Target } from './action.ts';
export { renderAudit, type AuditVerdict } from './audit-verdict.ts';
export { createAuditVerifier, verifyAudit, type AuditVerifier } from './audit-verify.ts';
export { openAudit, verifyAuditFile, type AuditLog, type AuditOptions } from './audit-log.ts';
export { type Brain, type BrainFunction } from './brain.ts';
export { episode } from './episode.ts';
export {
  type Episode,
  type EpisodeEvent,
  type EpisodeOptions,
  type EpisodeWatchdog,
  type ScreenCheck,
} from './episode-options.ts';
export {
  observationDigest,
  screenDigest,
  type Observation,
  type ScreenElement,
} from './observation.ts';
export { rehearse, type Decision, type Rehearsal, type RehearsalOptions } from './rehearse.ts';
export { ScreenGoneError, type ActResult, type Screen } from './screen.ts';
export { type Step } from './stage.ts';
export { type Alert } from './watch.ts';
