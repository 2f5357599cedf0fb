/** The engine of another thread, which only reads for this one: each statement is asked of that thread, and its rows are read in this one. */

import type { EngineSettings, FactsConnection, QueryOptions } from '../../ports/facts/engine/connection.ts'
import { allRows, rowsIn } from '../../ports/facts/engine/read-rows.ts'
import type { QueryParameters, Turn } from '../../ports/facts/query-rows.ts'

interface AskedLines {
  readonly statement: string
  readonly parameters: QueryParameters
  readonly turn: Turn
}

/** `ask` resolves with the rows as lines of JSON. */
export function linesConnection(
  ask: (asked: AskedLines, signal?: AbortSignal) => Promise<Uint8Array>,
  yielding: EngineSettings,
): FactsConnection {
  const lines = async (statement: string, parameters: QueryParameters, { turn, signal }: QueryOptions) => {
    const { buffer, byteOffset, byteLength } = await ask({ statement, parameters, turn }, signal)
    return Buffer.from(buffer, byteOffset, byteLength)
  }
  return {
    ...{ kind: 'chdb', isExclusive: true, yielding, command: readsOnly, insert: readsOnly },
    query: async (statement, parameters, options) =>
      allRows(rowsIn(await lines(statement, parameters, options)), options.turn),
    each: async (statement, parameters, options) => rowsIn(await lines(statement, parameters, options)),
    close: async () => undefined,
  }
}

function readsOnly(): Promise<never> {
  return Promise.reject(new Error('this thread only reads'))
}
