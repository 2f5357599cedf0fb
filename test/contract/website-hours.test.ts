/** Figures of many hours in the embedded engine, whose memory is small. */

import { expect } from 'chai'

import { INSTALL_DIMENSIONS, MAX_CELLS, VISIT_DIMENSIONS } from '../../domain/figures/cells.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

/** Of the embedded engine. */
const MEMORY_BYTES = 512 * 1024 * 1024
/** Of parts that are merged: as many as 30 days have. */
const [PARTS, HOURS] = [4, 180] as const
/** Counted anew, rows are merged with those they replace, while the engine still holds memory of the merges before. */
const ROUNDS = 2

describe('Figures of many hours', function () {
  this.timeout(120_000)
  let facts: TestFacts

  before(async () => {
    facts = await openTestFacts({ memoryBytes: MEMORY_BYTES })
  })
  after(() => facts?.close())

  it('are merged within the memory of the embedded engine', async () => {
    const { connection } = facts
    const dimensions = [...VISIT_DIMENSIONS, ...INSTALL_DIMENSIONS].join(', ')
    const cells = `arrayMap(place -> (concat('value-', toString(place)), 1, 1, 1, 1, 1, 1), range(${MAX_CELLS}))`
    const columns = [...VISIT_DIMENSIONS, ...INSTALL_DIMENSIONS].map(() => cells).join(', ')
    for (let round = 1; round <= ROUNDS; round++) {
      for (let part = 0; part < PARTS; part++)
        await connection.command(`INSERT INTO website_hours (website, hour, retention_days, row_version, ${dimensions})
          SELECT 'acme', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + INTERVAL number + ${part * HOURS} HOUR, 395, ${round}, ${columns}
          FROM numbers(${HOURS}) SETTINGS max_block_size = 16, min_insert_block_size_rows = 16, max_threads = 1`)
      await connection.command('OPTIMIZE TABLE website_hours FINAL')
    }
    const rows = await connection.query(
      "SELECT count() AS parts, sum(rows) AS rows FROM system.parts WHERE active AND table = 'website_hours' SETTINGS output_format_json_quote_64bit_integers = 0",
      {},
      { turn: 'report' },
    )
    expect(rows).to.deep.equal([{ parts: 1, rows: PARTS * HOURS }])
  })
})
