/** Requests for models in tests. */
import { type Delta, type ModelRequest } from '../../src/run/model.ts';

/** A request with nothing in it but what is given. */
export function request(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [],
    tools: [],
    maxOutputTokens: undefined,
    secondsLeft: undefined,
    signal: new AbortController().signal,
    affords: () => true,
    onWait: () => undefined,
    onDelta: () => {},
    ...parts,
  };
}

/** A request that keeps what was streamed to it. */
export function listening(parts: Partial<ModelRequest> = {}): [ModelRequest, Delta[]] {
  const deltas: Delta[] = [];
  return [request({ onDelta: (delta) => deltas.push(delta), ...parts }), deltas];
}
