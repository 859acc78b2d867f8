/**
 * hashtape: an agent's tool loop under budgets that hold, and a record of it that anyone can check.
 *
 * @module
 */
export { Stalled } from './run/abort.ts';
export { DEFAULT_BUDGET, type Budget, type BudgetName, type Spent } from './run/budget.ts';
export { systemClock, type Clock } from './run/clock.ts';
export { tool } from './run/define-tool.ts';
export { type Listeners, type RunEvent } from './run/events.ts';
export { run } from './run/run.ts';
export { resume, type ResumeOptions } from './run/resume.ts';
export { JournalError } from './run/journal.ts';
export { type ConfigurationPart, type Difference } from './run/differences.ts';
export {
  ModelError,
  type Delta,
  type FailedAttempt,
  type Message,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Price,
  type ReplyCall,
  type ReplyStop,
  type ToolCall,
  type ToolSpec,
} from './run/model.ts';
export { type CheckResult, type Outcome, type StopReason } from './run/outcome.ts';
export { type Failure } from './run/payloads.ts';
export { type Ask, type Permission, type Permit, type PermitRequest } from './run/permit.ts';
export { type Check, type CheckRequest, type RunOptions, type Watchdog } from './run/options.ts';
export { fold, RunState } from './run/state.ts';
export { type AnyTool, type Tool, type ToolContext, type ToolInput } from './run/tool.ts';
export { usageOf, type Usage } from './run/usage.ts';
export { replay, type Replay } from './replay/replay.ts';
export { type ReplayOptions } from './replay/given.ts';
export { type ChangedAnswer, type LiveAnswers } from './replay/live-tools.ts';
export { type Divergence } from './replay/tape.ts';
export { diff, type ComparedRun, type Parted, type Parting, type RunDiff } from './replay/diff.ts';
export { type Step as RunStep } from './replay/account.ts';
