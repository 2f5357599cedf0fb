/** The verbs of signing in as calls of Redis scripts. Each rejects if Redis does not answer in time. */

import type { RunScript } from './scripts.ts'
import { GENERATION_MS, type SessionVerbs } from '../session-verbs.ts'

export function sessionVerbs(run: RunScript, now: () => string): SessionVerbs {
  const text = (reply: unknown): string | null => (Buffer.isBuffer(reply) ? reply.toString('utf8') : null)
  return {
    async putSession({ id, person, record, forMs }) {
      await run('put_session', [now(), id, person, record, forMs, GENERATION_MS])
    },
    readSession: async (id) => text(await run('read_session', [now(), id])),
    async dropSession(id) {
      await run('drop_session', [now(), id])
    },
    async dropSessionsOf(person) {
      await run('drop_sessions_of', [now(), person, GENERATION_MS])
    },
    putOnce: async (key, value, forMs) => (await run('put_once', [now(), key, value, forMs])) === 1,
    async replaceOnce(key, value, forMs) {
      await run('replace_once', [now(), key, value, forMs])
    },
    readOnce: async (key) => text(await run('read_once', [now(), key])),
    takeOnce: async (key) => text(await run('take_once', [now(), key])),
  }
}
