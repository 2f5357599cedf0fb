/** Sessions and one-time values, in the table: they are few, and each is stored before its verb resolves. */

import { shapeOf, isNumber, isText, type Guard, parsedAs } from '../../../domain/guards.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import { GENERATION_MS, type SessionVerbs, type SessionRecords, type OnceVerbs } from '../session-verbs.ts'
import { timeKey } from './time-key.ts'

interface StoredSession {
  readonly untilMs: number
  readonly person: string
  /** How often the person had signed out everywhere; if the number has changed, the session is over. */
  readonly generation: number
  readonly record: string
}

interface StoredOnce {
  readonly untilMs: number
  readonly value: string
}

interface StoredGeneration {
  readonly untilMs: number
  readonly number: number
}

const isEntry = shapeOf<{ readonly untilMs: number }>({ untilMs: isNumber })
const isSession = shapeOf<StoredSession>({ untilMs: isNumber, person: isText, generation: isNumber, record: isText })
const isOnce = shapeOf<StoredOnce>({ untilMs: isNumber, value: isText })
const isGeneration = shapeOf<StoredGeneration>({ untilMs: isNumber, number: isNumber })

interface LmdbSessions {
  readonly verbs: SessionVerbs
  /** Deletes up to `limit` expired entries; returns how many. */
  readonly sweep: (limit: number) => number
}

/** `durable` resolves when everything written to the table so far is stored. */
export function openSessions(table: Table, nowMs: () => number, durable: () => Promise<void>): LmdbSessions {
  const entries = openEntries(table, nowMs)
  return {
    verbs: { ...storedSessions(entries, nowMs, durable), ...onceVerbs(entries, nowMs, durable) },
    sweep: entries.sweep,
  }
}

/** Of one person; more than anybody can begin in the days that a session lasts. */
const SESSIONS_MAX = 1 << 20

interface Entries {
  /** Null if it has expired. */
  readonly read: <T extends { readonly untilMs: number }>(isRight: Guard<T>, key: string) => T | null
  readonly write: <T extends { readonly untilMs: number }>(key: string, value: T) => void
  readonly remove: (key: string) => void
  /** Keys that begin with this text, expired ones too. */
  readonly keysBelow: (prefix: string) => readonly string[]
  readonly sweep: (limit: number) => number
}

/** Each entry has an index entry that begins with its expiry, so that expired ones are found without a scan. */
function openEntries(table: Table, nowMs: () => number): Entries {
  const read: Entries['read'] = (isRight, key) => {
    const value = parsedAs(isRight, table.get(key) ?? '')
    return value !== null && value.untilMs > nowMs() ? value : null
  }
  return {
    read,
    write(key, value) {
      table.put(key, JSON.stringify(value))
      table.put(`over/${timeKey(value.untilMs)}/${key}`, key)
    },
    remove: (key) => table.remove(key),
    keysBelow: (start) => table.range({ start, end: `${start}\uffff`, limit: SESSIONS_MAX }).map(({ key }) => key),
    sweep(limit) {
      const over = table.range({ start: 'over/', end: `over/${timeKey(nowMs())}`, limit })
      for (const { key, value } of over) {
        // An entry that was written again has a newer index entry.
        if (read(isEntry, value) === null) table.remove(value)
        table.remove(key)
      }
      return over.length
    },
  }
}

type Durable = () => Promise<void>

function storedSessions(
  { read, write, remove, keysBelow }: Entries,
  nowMs: () => number,
  durable: Durable,
): SessionRecords {
  const generationOf = (person: string): StoredGeneration | null => read(isGeneration, `signed-out/${person}`)
  return {
    async putSession({ id, person, record, forMs }) {
      const untilMs = nowMs() + forMs
      const known = generationOf(person)
      // The number must outlive every session that began under it.
      if (known !== null && known.untilMs < untilMs) write(`signed-out/${person}`, { ...known, untilMs })
      write<StoredSession>(`session/${id}`, { untilMs, person, generation: known?.number ?? 0, record })
      write(sessionOfKey(person, id), { untilMs })
      await durable()
    },
    async readSession(id) {
      const session = read(isSession, `session/${id}`)
      if (session === null || (generationOf(session.person)?.number ?? 0) !== session.generation) return null
      return session.record
    },
    async dropSession(id) {
      const session = read(isSession, `session/${id}`)
      if (session !== null) remove(sessionOfKey(session.person, id))
      remove(`session/${id}`)
      await durable()
    },
    async dropSessionsOf(person) {
      const number = (generationOf(person)?.number ?? 0) + 1
      write<StoredGeneration>(`signed-out/${person}`, { untilMs: nowMs() + GENERATION_MS, number })
      for (const key of keysBelow(sessionOfKey(person, ''))) {
        remove(`session/${key.slice(sessionOfKey(person, '').length)}`)
        remove(key)
      }
      await durable()
    },
  }
}

/** Finds the sessions of a person. */
function sessionOfKey(person: string, id: string): string {
  return `session-of/${person}/${id}`
}

function onceVerbs({ read, write, remove }: Entries, nowMs: () => number, durable: Durable): OnceVerbs {
  const put = async (key: string, value: string, forMs: number): Promise<void> => {
    write<StoredOnce>(`once/${key}`, { untilMs: nowMs() + forMs, value })
    await durable()
  }
  return {
    async putOnce(key, value, forMs) {
      if (read(isOnce, `once/${key}`) !== null) return false
      await put(key, value, forMs)
      return true
    },
    replaceOnce: put,
    readOnce: async (key) => read(isOnce, `once/${key}`)?.value ?? null,
    async takeOnce(key) {
      const once = read(isOnce, `once/${key}`)
      if (once === null) return null
      remove(`once/${key}`)
      await durable()
      return once.value
    },
  }
}
