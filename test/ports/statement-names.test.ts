/** Every statement says in `log_comment` what it is, so that `system.query_log` of a server tells which one costs what. */

import { expect } from 'chai'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { requestRecord, rowsOf } from '../contract/fact-samples.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'

/** An engine that knows every setting and holds one row of each table until something was deleted. */
function recorder(): { readonly connection: FactsConnection; readonly said: string[] } {
  const said: string[] = []
  let rows = 1
  const query: FactsConnection['query'] = async (statement, parameters) => {
    said.push(statement)
    if (statement.includes('system.settings')) return (parameters['names'] as string[]).map((name) => ({ name }))
    return [{ open: 0, visits: rows }]
  }
  const connection: FactsConnection = {
    kind: 'recorder',
    isExclusive: true,
    command: async (statement) => {
      rows = 0
      said.push(statement)
    },
    query,
    each: query,
    insert: async ({ table, settings }) => void said.push(`${table} ${String(settings['log_comment'])}`),
    close: async () => undefined,
  }
  return { connection, said }
}

describe('statements', () => {
  it('are named: queries, inserts and erasures', async () => {
    const { connection, said } = recorder()
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    await facts.run('visitsByIds', { organizations: ['acme'], websites: ['acme'], visit_ids: ['1'] })
    expect(said.at(-1)).to.include("log_comment = 'whence:visitsByIds'")
    await facts.each(
      'visitsByIds',
      { organizations: ['acme'], websites: ['acme'], visit_ids: ['1'] },
      { isPatient: true },
    )
    expect(said.at(-1)).to.include("log_comment = 'whence:visitsByIds'")
    for (const [table, rows] of rowsOf([requestRecord()])) await facts.insert(table, rows)
    expect(said.at(-1)).to.equal('request_logs whence:insert request_logs')
    const before = said.length
    await facts.eraseOrganization('acme')
    const others = said.slice(before)
    expect(others.some((statement) => statement.startsWith('ALTER TABLE visits'))).to.equal(true)
    for (const statement of others) expect(statement).to.include("log_comment = 'whence:erase'")
  })
})
