/**
 * The model of an episode, watched for silence.
 *
 * @module
 */
import { systemClock } from '../run/clock.ts';
import { type Model, type ModelReply, type ModelRequest } from '../run/model.ts';
import { type EpisodeOptions } from './episode-options.ts';
import { type Alert } from './watch.ts';

function nothing(): void {}

/**
 * The model, watched for silence. What it says is told when its turn has ended: before that, nobody knows whether a
 * secret is in it, or half of one.
 */
export function attentive(
  model: Model,
  { options, onAlert }: { options: EpisodeOptions; onAlert: (alert: Alert) => void },
): Model {
  const { clock = systemClock, watchdog: { modelSeconds = 120 } = {} } = options;
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    let cancel = nothing;
    const listen = (extra = 0): void => {
      cancel();
      cancel = clock.timer(extra + modelSeconds * 1000, () =>
        onAlert({
          kind: 'silent_model',
          evidence: `the model has said nothing for ${modelSeconds} s`,
        }),
      );
    };
    const { signal } = request;
    const stop = (): void => cancel();
    signal.addEventListener('abort', stop, { once: true });
    listen();
    try {
      let hasText = false;
      const reply = await model({
        ...request,
        onDelta({ kind }) {
          if (!signal.aborted) listen();
          hasText ||= kind === 'text';
        },
        onWait(milliseconds) {
          if (!signal.aborted) listen(milliseconds);
          request.onWait(milliseconds);
        },
      });
      if (hasText && typeof reply?.content === 'string')
        request.onDelta({ kind: 'text', text: reply.content });
      return reply;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  };
  const { id, price } = model;
  return Object.assign(answer, {
    ...(id === undefined ? {} : { id }),
    ...(price === undefined ? {} : { price }),
  });
}
