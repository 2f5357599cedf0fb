/** The Lua scripts of the verbs, each behind what they share, and their loading into a client. */

import { readFileSync } from 'node:fs'

import type { Redis } from 'ioredis'

/** Named after their files in `lua/`. */
const SCRIPTS = [
  'put_visit',
  'activate',
  'learn',
  'receipt_states',
  'claim_install',
  'settle_install',
  'release_install',
  'count_hits',
  'add_usage',
  'return_usage',
  'read_usage',
  'raise_usage',
  'claim_job',
  'release_job',
  'probe',
] as const
export type ScriptName = (typeof SCRIPTS)[number]
export type ScriptArgument = string | number | Buffer

/** Runs a script: texts come back as bytes, numbers as numbers. */
export type RunScript = (name: ScriptName, args: readonly ScriptArgument[]) => Promise<unknown>

/**
 * Defines every script on a client. A script that the server does not know (any more) is sent whole again by the client.
 * `prefix` begins every key.
 */
export function defineScripts(client: Redis, prefix: string): RunScript {
  const shared = readScript('shared')
  for (const name of SCRIPTS) {
    client.defineCommand(name, { numberOfKeys: 1, lua: `${shared}\n${readScript(name)}` })
  }
  const commands = client as unknown as Record<string, (...args: ScriptArgument[]) => Promise<unknown>>
  return (name, args) => {
    const run = commands[`${name}Buffer`]
    if (run === undefined) throw new Error(`script ${name} is not defined`)
    return run.call(client, prefix, ...args)
  }
}

function readScript(name: string): string {
  return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
}
