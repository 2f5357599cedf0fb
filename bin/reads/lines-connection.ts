/** The engine of another thread, which only reads for this one: each statement is asked of that thread, and its rows are read in this one. */

import type { EngineLines, EngineSettings, FactsConnection } from '../../ports/facts/engine/connection.ts'
import { readsOfLines } from '../../ports/facts/engine/read-rows.ts'
import type { StatementShare, QueryParameters, Turn } from '../../ports/facts/query-rows.ts'

interface AskedLines {
  readonly statement: string
  readonly parameters: QueryParameters
  readonly turn: Turn
  readonly share: StatementShare | undefined
}

/** `ask` resolves with the rows as lines of JSON. */
export function linesConnection(
  ask: (asked: AskedLines, signal?: AbortSignal) => Promise<Uint8Array>,
  yielding: EngineSettings,
): FactsConnection {
  const lines: EngineLines = async (statement, parameters, { turn, share, signal }) => {
    const { buffer, byteOffset, byteLength } = await ask({ statement, parameters, turn, share }, signal)
    return Buffer.from(buffer, byteOffset, byteLength)
  }
  return {
    kind: 'chdb',
    isExclusive: true,
    yielding,
    command: readsOnly,
    insert: readsOnly,
    ...readsOfLines(lines),
    close: async () => undefined,
  }
}

function readsOnly(): Promise<never> {
  return Promise.reject(new Error('this thread only reads'))
}
