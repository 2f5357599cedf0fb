/** Collects rows of several tables as text, separated by table and partition, ready to be inserted. */

import { FACT_TABLES, TABLE_COLUMNS, type FactTable } from './columns.ts'
import type { EngineSettings, InsertStatement } from './engine/connection.ts'
import type { FactRow } from './facts.ts'
import { encodeRow, partitionOf } from './tab-separated.ts'

/** Text becomes bytes in pieces of this many characters, so that memory holds little of it twice. */
const PIECE_CHARS = 16 * 1024

export interface CollectedRows {
  readonly chars: number
  /** Throws `RowsRefused` and changes nothing if the row does not fit. */
  add(table: FactTable, row: FactRow): void
  /** One statement per partition with rows, in the order of `FACT_TABLES`. An insert into one partition is atomic. */
  statements(settings: EngineSettings): readonly InsertStatement[]
}

export function collectRows(): CollectedRows {
  const tables = new Map<FactTable, Map<number, Piece>>()
  let chars = 0

  function pieceOf(table: FactTable, row: FactRow): Piece {
    const partitions = tables.get(table) ?? new Map<number, Piece>()
    tables.set(table, partitions)
    const partition = partitionOf(table, row)
    let piece = partitions.get(partition)
    if (piece === undefined) partitions.set(partition, (piece = { text: '', bytes: [] }))
    return piece
  }

  return {
    get chars() {
      return chars
    },
    add(table, row) {
      const line = encodeRow(table, row)
      const piece = pieceOf(table, row)
      piece.text += line
      chars += line.length
      if (piece.text.length >= PIECE_CHARS) flushPiece(piece)
    },
    statements: (settings) =>
      FACT_TABLES.flatMap((table) =>
        [...(tables.get(table)?.values() ?? [])].map((piece) => {
          flushPiece(piece)
          return { table, columns: Object.keys(TABLE_COLUMNS[table].columns), settings, body: piece.bytes }
        }),
      ),
  }
}

interface Piece {
  text: string
  readonly bytes: Uint8Array[]
}

function flushPiece(piece: Piece): void {
  if (piece.text !== '') piece.bytes.push(Buffer.from(piece.text))
  piece.text = ''
}
