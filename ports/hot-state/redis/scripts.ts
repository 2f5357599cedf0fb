/** The verbs in Lua: combined into one script, loaded into a client, and called in groups. */

import { readFileSync } from 'node:fs'

import type { Redis } from 'ioredis'

import { isList } from '../../../domain/guards.ts'
import { encodeVerbCalls, type ScriptArgument } from './verb-call.ts'

/** By folder of `lua/`; each is named after its file. */
const SCRIPTS = {
  receipts: ['put_visit', 'activate', 'learn', 'receipt_states'],
  installs: ['claim_install', 'keep_install', 'settle_install', 'decide_install', 'release_install'],
  limits: ['count_hits', 'return_hits', 'add_usage', 'return_usage', 'read_usage', 'raise_usage'],
  sessions: [
    'put_session',
    'read_session',
    'drop_session',
    'drop_sessions_of',
    'put_once',
    'replace_once',
    'read_once',
    'take_once',
  ],
  store: ['claim_job', 'release_job', 'mark_whole', 'read_whole', 'note_loss', 'probe', 'leave'],
} as const
type ScriptName = (typeof SCRIPTS)[keyof typeof SCRIPTS][number]

/** Runs a script: texts come back as bytes, numbers as numbers. */
export type RunScript = (name: ScriptName, args: readonly ScriptArgument[]) => Promise<unknown>

/** Most verbs in one call, which blocks Redis for about 5 µs per verb. */
const MOST_AT_ONCE = 64

interface Waiting {
  readonly name: ScriptName
  readonly args: readonly ScriptArgument[]
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Sends verbs, as `verb-call.ts` writes them, as one call; resolves to what each of the `count` verbs returns. */
export type SendVerbs = (call: Buffer, count: number) => Promise<readonly unknown[]>

/**
 * Defines the verbs on a client, as one script. If the server does not know the script (any more), the client sends it
 * again. `prefix` begins every key.
 */
export function defineScripts(client: Redis, prefix: string): SendVerbs {
  client.defineCommand('verbs', { numberOfKeys: 1, lua: verbsScript() })
  const verbs: unknown = Reflect.get(client, 'verbsBuffer')
  if (typeof verbs !== 'function') throw new Error('ioredis is not the version that this service was made for')
  return async (call) => {
    const replies: unknown = await Reflect.apply(verbs, client, [prefix, call])
    if (!isList(replies)) throw new Error('the verbs of the hot state answered no list')
    return replies
  }
}

/**
 * Runs all verbs of one turn of the event loop in one call: one call per verb cost a visit a quarter more processor
 * time.
 */
export function runTogether(send: SendVerbs): RunScript {
  let waiting: Waiting[] = []
  const sendAll = (): void => {
    if (waiting.length === 0) return
    const sent = waiting
    waiting = []
    send(encodeVerbCalls(sent), sent.length).then(
      (replies) => sent.forEach(({ resolve }, place) => resolve(replies[place])),
      (error: unknown) => sent.forEach(({ reject }) => reject(error)),
    )
  }
  return (name, args) =>
    new Promise((resolve, reject) => {
      waiting.push({ name, args, resolve, reject })
      if (waiting.length === 1) setImmediate(sendAll)
      if (waiting.length === MOST_AT_ONCE) sendAll()
    })
}

function verbsScript(): string {
  const verbs = Object.entries(SCRIPTS).flatMap(([folder, names]) =>
    names.map(
      (name) => `VERBS.${name} = function(ARGV)\nNOW = clock_ms(ARGV[1])\n${readScript(`${folder}/${name}`)}end\n`,
    ),
  )
  return [readScript('shared'), 'local VERBS = {}\n', ...verbs, readScript('run')].join('\n')
}

function readScript(path: string): string {
  return readFileSync(new URL(`lua/${path}.lua`, import.meta.url), 'utf8')
}
