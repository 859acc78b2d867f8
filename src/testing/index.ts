/**
 * Test doubles and conformance suites, for tests of what is built with hashtape.
 *
 * @module
 */
export {
  loadScript,
  parseScript,
  recordedTools,
  recordedTurns,
  scripted,
  ScriptError,
  type Recording,
  type RequestSnapshot,
  type Script,
  type ScriptCall,
  type ScriptedModel,
  type ScriptedOptions,
  type ScriptFunction,
  type ScriptTurn,
} from '../models/scripted.ts';
export {
  storeConformance,
  type ConformanceCase,
  type StoreUnderTest,
} from '../store/conformance.ts';
export { type ConformanceOptions, type ConformanceSettings } from './conformance-case.ts';
export { fakeClock, type FakeClock } from './clock.ts';
export { expectReplay } from './expect-replay.ts';
export { modelConformance } from './model-conformance.ts';
export { startProvider, type StubProvider, type StubProviderOptions } from './provider.ts';
export {
  type StubAnswer,
  type StubCall,
  type StubFault,
  type StubQuirk,
  type StubRequest,
  type StubTurn,
  type StubUsage,
} from './provider-script.ts';
export {
  scriptedScreen,
  type Reaction,
  type Scene,
  type SceneElement,
  type ScriptedScreen,
} from './scripted-screen.ts';
export * as tamper from './tamper.ts';
