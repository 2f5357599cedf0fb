/** The URL of a ClickHouse server contains everything that teams set about it. */

import { expect } from 'chai'

import { parseClickHouseUrl } from '../../ports/facts/engine/clickhouse-url.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import { migrate } from '../../ports/facts/migrate.ts'

describe('ClickHouse URL', () => {
  it('names server, user and database, and by default one server without replicas', () => {
    expect(parseClickHouseUrl('http://user:pass%40word@db.example:8123/whence')).to.deep.equal({
      ok: true,
      value: { url: 'http://user:pass%40word@db.example:8123/whence', tls: null, layout: { isReplicated: false } },
    })
  })

  it('names files for TLS, a cluster and replicas', () => {
    const parameters = 'ca=/tls/ca.pem&cert=/tls/c.pem&key=/tls/k.pem&replicated=1&cluster=main'
    expect(parseClickHouseUrl(`https://db.example:8443/whence?${parameters}`)).to.deep.equal({
      ok: true,
      value: {
        url: 'https://db.example:8443/whence',
        tls: { caFile: '/tls/ca.pem', certFile: '/tls/c.pem', keyFile: '/tls/k.pem' },
        layout: { isReplicated: true, cluster: 'main' },
      },
    })
  })

  const wrong: Readonly<Record<string, string>> = {
    'ftp://secret@h/': 'http://USER',
    'http://secret@h:99999/': 'http://USER',
    'http://u:%zz-secret@h/': 'percent code',
    "http://u:secret@h/whence'": 'database',
    'http://u:secret@h/whence?request_timeout=1': 'none of ca, cert, key, replicated, cluster',
    'http://u:secret@h/whence?replicated=1&replicated=1': 'twice',
    'http://u:secret@h/whence?replicated=yes': 'neither 0 nor 1',
    'http://u:secret@h/whence?cluster=main': 'without replicated=1',
    "http://u:secret@h/whence?replicated=1&cluster=a'b": 'more than letters',
    'http://u:secret@h/whence?ca=/ca.pem': 'without https',
    'https://u:secret@h/whence?ca=/ca.pem&cert=/c.pem': 'together',
    'https://u:secret@h/whence?cert=/c.pem&key=/k.pem': 'needs ca',
  }
  for (const [url, why] of Object.entries(wrong)) {
    it(`is refused with '${why}' and without its password (${url.slice(0, 8)}…${url.slice(-12)})`, () => {
      const parsed = parseClickHouseUrl(url)
      expect(parsed.ok ? '' : parsed.why).to.contain(why)
      expect(() => openClickHouse(url)).to.throw(/^the address of ClickHouse (?!.*secret)/)
    })
  }

  it('lays tables out as it says', async () => {
    const connection = openClickHouse('http://127.0.0.1:1/whence?replicated=1&cluster=main')
    const statements: string[] = []
    const recording = {
      ...connection,
      query: () => Promise.resolve([]),
      command: (statement: string) => {
        statements.push(statement)
        return Promise.resolve()
      },
    }
    await migrate(recording)
    await connection.close()
    const visits = statements.find((statement) => statement.includes('TABLE IF NOT EXISTS visits')) ?? ''
    expect(visits).to.contain("ON CLUSTER 'main'").and.to.contain('ReplicatedReplacingMergeTree(')
  })
})
