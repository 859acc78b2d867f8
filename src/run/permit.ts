/**
 * Permission: whether a call may run, decided by policy or by a person, and recorded with the result.
 *
 * @module
 */
import { isThenable, race, type Deadline } from './deadline.ts';
import { type ToolCall } from './model.ts';
import { describeError, publicText } from './result.ts';
import { DEFAULT_TOOL_TIMEOUT_MS, type AnyTool } from './tool.ts';

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
  deadlines: { readonly permit: Deadline; readonly ask: Deadline },
): Promise<Decision | 'aborted'> {
  const given = await guarded('permit', () => permit(request), readPermission, deadlines.permit);
  if (given === 'aborted') return 'aborted';
  if (!given.ok) {
    const reason = 'the policy could not decide';
    return { decision: 'deny', reason, asked: false, problem: given.problem };
  }
  const permission = given.value;
  if (permission.decision === 'allow') return { decision: 'allow', asked: false };
  if (permission.decision === 'deny') {
    return { decision: 'deny', reason: publicText(permission.reason), asked: false };
  }
  if (ask === undefined)
    return { decision: 'deny', reason: 'there is nobody to ask', asked: false };
  const question = permission.question ?? `May ${request.call.name} run?`;
  const said = await guarded('ask', () => ask({ ...request, question }), reading, deadlines.ask);
  if (said === 'aborted') return 'aborted';
  if (said.ok) return said.value;
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

/** A policy that throws denies: it fails closed. So does one whose answer throws when it is read. */
async function guarded<T>(
  name: string,
  act: () => unknown,
  read: (answer: unknown) => T,
  deadline: Deadline,
): Promise<{ ok: true; value: T } | { ok: false; problem: string } | 'aborted'> {
  try {
    const result = act();
    if (!isThenable(result)) return { ok: true, value: read(result) };
    const raced = await race(result, deadline);
    if (raced.ended === 'value') return { ok: true, value: read(raced.value) };
    if (raced.ended === 'error') throw raced.error;
    const isLate = raced.ended === 'timeout' && deadline.milliseconds === DEFAULT_TOOL_TIMEOUT_MS;
    return isLate ? { ok: false, problem: `${name} did not decide in time` } : 'aborted';
  } catch (error) {
    return { ok: false, problem: `${name} threw ${describeError(error)}` };
  }
}

/** A permission as it has to be. What is thrown says what is wrong with it. */
function readPermission(value: unknown): Permission {
  const { decision, reason, question }: { [key: string]: unknown } = Object(value);
  if (decision === 'allow') return { decision };
  if (decision === 'deny')
    return { decision, reason: typeof reason === 'string' ? reason : 'no reason given' };
  if (decision === 'ask')
    return typeof question === 'string' ? { decision, question } : { decision };
  throw new TypeError(
    "permit must return { decision: 'allow' | 'deny' | 'ask' }, and returned something else",
  );
}
