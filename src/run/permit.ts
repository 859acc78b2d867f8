/**
 * Permission: whether a call may run, decided by policy or by a person, and recorded with the result.
 *
 * @module
 */
import { isThenable, race, type Deadline } from './deadline.ts';
import { type ToolCall } from './model.ts';
import { describeError, publicText } from './result.ts';
import { type AnyTool } from './tool.ts';

/** What policy is asked about: a call whose tool exists and whose arguments fit. */
export interface PermitRequest {
  readonly call: ToolCall;
  readonly tool: AnyTool;
  /**
   * What the tool will get. A Standard Schema may have filled in defaults or changed what the model wrote,
   * which is in `call.arguments`: decide on these.
   */
  readonly arguments: unknown;
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
  /** What was wrong with the policy, or with asking. It is recorded, and the model isn't told. */
  readonly problem?: string;
}

/** Settles a call's permission; `aborted` if the run ended while somebody thought about it. */
export async function settlePermission(
  permit: Permit,
  ask: Ask | undefined,
  request: PermitRequest,
  deadline: Deadline,
): Promise<Decision | 'aborted'> {
  const given = await guarded('permit', () => permit(request), deadline);
  if (given === 'aborted') return 'aborted';
  const permission = given.ok ? readPermission(given.value) : given.problem;
  if (typeof permission === 'string') {
    const reason = 'the policy could not decide';
    return { decision: 'deny', reason, asked: false, problem: permission };
  }
  if (permission.decision === 'allow') return { decision: 'allow', asked: false };
  if (permission.decision === 'deny') {
    return { decision: 'deny', reason: publicText(permission.reason), asked: false };
  }
  if (ask === undefined)
    return { decision: 'deny', reason: 'there is nobody to ask', asked: false };
  const question = permission.question ?? `May ${request.call.name} run?`;
  const said = await guarded('ask', () => ask({ ...request, question }), deadline);
  if (said === 'aborted') return 'aborted';
  if (said.ok) return reading(said.value);
  const reason = 'nobody could be asked';
  return { decision: 'deny', reason, asked: true, problem: said.problem };
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
  name: string,
  act: () => T | Promise<T>,
  deadline: Deadline,
): Promise<{ ok: true; value: T } | { ok: false; problem: string } | 'aborted'> {
  try {
    const result = act();
    if (!isThenable(result)) return { ok: true, value: result };
    const raced = await race(result, deadline);
    if (raced.ended === 'value') return { ok: true, value: raced.value };
    if (raced.ended !== 'error') return 'aborted';
    throw raced.error;
  } catch (error) {
    return { ok: false, problem: `${name} threw ${describeError(error)}` };
  }
}

/** A permission as it has to be, or what is wrong with it. */
function readPermission(value: unknown): Permission | string {
  const { decision, reason, question }: { [key: string]: unknown } = Object(value);
  if (decision === 'allow') return { decision };
  if (decision === 'deny') {
    return typeof reason === 'string' ? { decision, reason } : 'permit denied without a reason';
  }
  if (decision === 'ask')
    return typeof question === 'string' ? { decision, question } : { decision };
  return "permit must return { decision: 'allow' | 'deny' | 'ask' }, and returned something else";
}
