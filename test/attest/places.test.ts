/**
 * Where keys and memory are: the rules of the XDG Base Directory specification.
 *
 * @module
 */
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { expect, test } from 'vitest';
import { placesIn } from '../../src/attest/places.ts';

const HERE = userInfo().homedir;

/** The environment, and then the folders of configuration, state and cache. */
const CASES: readonly [string, NodeJS.ProcessEnv, string, string, string][] = [
  ['only a home', { HOME: '/h' }, '/h/.config', '/h/.local/state', '/h/.cache'],
  [
    'all of them',
    { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' },
    '/c',
    '/s',
    '/k',
  ],
  ['one of them', { HOME: '/h', XDG_STATE_HOME: '/s' }, '/h/.config', '/s', '/h/.cache'],
  [
    'relative ones, which the specification says to ignore',
    { HOME: '/h', XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: './s', XDG_CACHE_HOME: '../k' },
    '/h/.config',
    '/h/.local/state',
    '/h/.cache',
  ],
  [
    'empty ones, which are as good as none',
    { HOME: '/h', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' },
    '/h/.config',
    '/h/.local/state',
    '/h/.cache',
  ],
  ['no home', {}, join(HERE, '.config'), join(HERE, '.local/state'), join(HERE, '.cache')],
  [
    'an empty home',
    { HOME: '' },
    join(HERE, '.config'),
    join(HERE, '.local/state'),
    join(HERE, '.cache'),
  ],
  [
    'a relative home',
    { HOME: 'h' },
    join(HERE, '.config'),
    join(HERE, '.local/state'),
    join(HERE, '.cache'),
  ],
];

test.each(CASES)('%s', (_, env, config, state, cache) => {
  const places = placesIn(env);
  expect(places).toEqual({
    config: join(config, 'hashtape'),
    state: join(state, 'hashtape'),
    cache: join(cache, 'hashtape'),
  });
  // A relative one would put a secret key wherever the command happens to be started.
  for (const place of Object.values(places)) expect(isAbsolute(place)).toBe(true);
});
