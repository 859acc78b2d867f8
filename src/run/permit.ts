/**
 * Permission: whether a call may run, decided by policy or by a person, and recorded with the result.
 *
 * @module
 */
import { isThenable, race, type Deadline } from './deadline.ts';
import { type ToolCall } from './model.ts';
import { publicText } from './result.ts';
import { type AnyTool } from './tool.ts';

/** What policy is asked about: a call whose tool exists and whose arguments fit. */
export interface PermitRequest {
  readonly call: ToolCall;
  readonly tool: AnyTool;
}

/** What policy says. `ask` hands the question to the run's `ask` function. */
export type Permission =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'ask'; readonly question?: string };

export type Permit = (request: PermitRequest) => Permission | Promise<Permission>;

/** Puts a question to a person. */
export type Ask = (
  request: PermitRequest & { readonly question: string },
) =>
  | { readonly allow: boolean; readonly reason?: string }
  | Promise<{ readonly allow: boolean; readonly reason?: string }>;

/** The decision as it is recorded. */
export interface Decision {
  readonly decision: 'allow' | 'deny';
  readonly reason?: string;
  /** Whether a person was asked. */
  readonly asked: boolean;
}

/** Settles a call's permission; `aborted` if the run ended while somebody thought about it. */
export async function settlePermission(
  permit: Permit,
  ask: Ask | undefined,
  request: PermitRequest,
  deadline: Deadline,
): Promise<Decision | 'aborted'> {
  const permission = await guarded(() => permit(request), deadline);
  if (permission === 'aborted') return 'aborted';
  if (permission === 'failed' || !isPermission(permission)) {
    return { decision: 'deny', reason: 'the policy could not decide', asked: false };
  }
  if (permission.decision === 'allow') return { decision: 'allow', asked: false };
  if (permission.decision === 'deny') {
    return { decision: 'deny', reason: publicText(permission.reason), asked: false };
  }
  if (ask === undefined)
    return { decision: 'deny', reason: 'there is nobody to ask', asked: false };
  const question = permission.question ?? `May ${request.call.name} run?`;
  const said = await guarded(() => ask({ ...request, question }), deadline);
  if (said === 'aborted') return 'aborted';
  if (said === 'failed') return { decision: 'deny', reason: 'nobody could be asked', asked: true };
  return reading(said);
}

/** Only a plain `allow: true` is a yes. */
function reading(said: unknown): Decision {
  const { allow, reason }: { allow?: unknown; reason?: unknown } =
    typeof said === 'object' && said !== null ? said : {};
  if (allow === true) return { decision: 'allow', asked: true };
  const why = typeof reason === 'string' ? publicText(reason) : 'a person said no';
  return { decision: 'deny', reason: why, asked: true };
}

/** A policy that throws denies: it fails closed. */
async function guarded<T>(
  act: () => T | Promise<T>,
  deadline: Deadline,
): Promise<T | 'failed' | 'aborted'> {
  try {
    const result = act();
    if (!isThenable(result)) return result;
    const raced = await race(result, deadline);
    if (raced.ended === 'value') return raced.value;
    return raced.ended === 'error' ? 'failed' : 'aborted';
  } catch {
    return 'failed';
  }
}

function isPermission(value: unknown): value is Permission {
  if (typeof value !== 'object' || value === null || !('decision' in value)) return false;
  if (value.decision === 'deny') return 'reason' in value && typeof value.reason === 'string';
  return value.decision === 'allow' || value.decision === 'ask';
}
