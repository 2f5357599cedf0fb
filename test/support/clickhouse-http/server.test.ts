/** The ClickHouse fixture implements the HTTP interface as far as the tests rely on it. */

import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'

import { expect } from 'chai'

import { startClickHouse } from '../clickhouse-server.ts'
import type { ClickHouseServer } from '../clickhouse-server.ts'
import { formatOf, splitInsert } from './insert-data.ts'

describe('ClickHouse fixture', function () {
  this.timeout(60_000)
  let server: ClickHouseServer
  let origin: string

  before(async () => {
    server = await startClickHouse({ database: 'whence' })
    origin = new URL(server.url).origin
    await ask('CREATE TABLE numbers (n UInt32, text String) ENGINE = MergeTree ORDER BY n')
  })
  after(() => server.stop())
  beforeEach(() => ask('TRUNCATE TABLE numbers'))

  const rows = async (): Promise<string> => (await ask('SELECT n, text FROM numbers ORDER BY n')).text

  it('says that it is there', async () => {
    expect(await (await fetch(`${origin}/ping`)).text()).to.equal('Ok.\n')
    expect(await (await fetch(origin)).text()).to.equal('Ok.\n')
  })

  it('answers in the format of the statement, of the address, of the header, or in TabSeparated', async () => {
    const inStatement = await ask('SELECT 1 AS n FORMAT JSONEachRow', { default_format: 'CSV' })
    const inAddress = await ask("SELECT 'a' AS n", { default_format: 'CSV' })
    const inHeader = await ask("SELECT 'a' AS n", {}, { 'x-clickhouse-format': 'Values' })
    const nowhere = await ask("SELECT 'a', 2")
    expect([inStatement, inAddress, inHeader, nowhere].map((answer) => answer.text)).to.deep.equal([
      '{"n":1}\n',
      '"a"\n',
      "('a')",
      'a\t2\n',
    ])
    expect([inStatement, nowhere].map((answer) => answer.headers.get('x-clickhouse-format'))).to.deep.equal([
      'JSONEachRow',
      'TabSeparated',
    ])
  })

  it('passes on bytes that are no text', async () => {
    const answer = await fetch(`${origin}/?query=${encodeURIComponent("SELECT unhex('ff00') FORMAT RowBinary")}`)
    expect([...new Uint8Array(await answer.arrayBuffer())]).to.deep.equal([2, 0xff, 0])
  })

  it('takes rows in the body after a statement in the address, or both in the body', async () => {
    const apart = await ask('1\tone\n', { query: 'INSERT INTO numbers FORMAT TabSeparated' })
    await ask('INSERT INTO numbers (n, text) FORMAT JSONEachRow\n{"n": 2, "text": "FORMAT CSV"}')
    await ask("INSERT INTO numbers VALUES (3, 'a;b'), (4, 'c')")
    await ask("INSERT INTO numbers SELECT 5, 'FORMAT TSV'")
    expect(await rows()).to.equal('1\tone\n2\tFORMAT CSV\n3\ta;b\n4\tc\n5\tFORMAT TSV\n')
    expect(JSON.parse(apart.headers.get('x-clickhouse-summary') ?? '')).to.include({ written_rows: '1' })
  })

  it('takes an insert of 16 MB and refuses one of 68 MB', async () => {
    const line = `7\t${'x'.repeat(1_000)}\n`
    const query = 'INSERT INTO numbers FORMAT TabSeparated'
    const accepted = await ask(line.repeat(16_000), { query })
    expect(accepted.status).to.equal(200)
    expect((await ask('SELECT count() FROM numbers')).text).to.equal('16000\n')
    const refused = await ask(line.repeat(68_000), { query })
    expect([refused.status, refused.headers.get('x-clickhouse-exception-code')]).to.deep.equal([413, '307'])
  })

  it('stores nothing of a body that breaks off', async () => {
    const query = encodeURIComponent('INSERT INTO whence.numbers FORMAT TabSeparated')
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`POST /?query=${query} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n1\tone\n2\ttwo\n`)
    socket.destroy()
    expect(await rows()).to.equal('')
  })

  it('binds parameters as they are escaped on the way', async () => {
    const values = { param_text: "a\\tb\\\\\\'ü", param_texts: "['q\\\\r','it\\'s']" }
    const { text } = await ask('SELECT hex({text:String}), length({texts:Array(String)}[1])', values)
    expect(text).to.equal(`${Buffer.from("a\tb\\'ü").toString('hex').toUpperCase()}\t3\n`)
    const missing = await ask('SELECT {absent:String}')
    expect(missing.headers.get('x-clickhouse-exception-code')).to.equal('456')
  })

  it('takes statement and parameters from a form', async () => {
    const form = new FormData()
    form.set('query', 'SELECT length({keys:Array(String)})')
    form.set('param_keys', `[${Array.from({ length: 9_000 }, (_, index) => `'key-${index}'`).join()}]`)
    const answer = await fetch(origin, { method: 'POST', body: form })
    expect(await answer.text()).to.equal('9000\n')
  })

  it('keeps settings and parameters from the next statement', async () => {
    const changed = "SELECT value FROM system.settings WHERE name = 'max_threads'"
    const [before, during, after] = [await ask(changed), await ask(changed, { max_threads: '3' }), await ask(changed)]
    expect(during.text).to.equal('3\n')
    expect(after.text).to.equal(before.text)
    const token = { insert_deduplication_token: 'same', insert_deduplicate: '1' }
    await ask('ALTER TABLE numbers MODIFY SETTING non_replicated_deduplication_window = 100')
    await ask("INSERT INTO numbers VALUES (1, 'a')", token)
    await ask("INSERT INTO numbers VALUES (2, 'b')")
    expect(await rows()).to.equal('1\ta\n2\tb\n')
  })

  it('answers errors with the status, the number and the words of the engine', async () => {
    const failing = ['SELEC 1', 'SELECT * FROM absent', "SELECT throwIf(1, 'no')", 'SELECT 1 FORMAT Nope']
    const answers = await Promise.all(failing.map((statement) => ask(statement)))
    const seen = answers.map(({ status, headers }) => `${status} ${headers.get('x-clickhouse-exception-code')}`)
    expect(seen).to.deep.equal(['400 62', '404 60', '500 395', '404 73'])
    expect(answers[1]?.text).to.match(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\) \(version \d+\.\d+/)
    expect((await ask('SELECT 1', { no_such_setting: '1' })).text).to.contain('UNKNOWN_SETTING')
    expect((await ask('SELECT 1', { database: 'absent' })).text).to.contain('UNKNOWN_DATABASE')
    expect((await ask('SELECT 1', { session_id: 'mine' })).status).to.equal(501)
  })

  it('writes nothing for a GET', async () => {
    const query = encodeURIComponent("INSERT INTO whence.numbers VALUES (1, 'a')")
    const answer = await fetch(`${origin}/?query=${query}`)
    expect(answer.headers.get('x-clickhouse-exception-code')).to.equal('164')
    expect(await rows()).to.equal('')
  })

  it('packs and unpacks gzip if the client asks for it', async () => {
    const query = 'INSERT INTO numbers FORMAT TabSeparated'
    await ask(gzipSync('1\tone\n'), { query }, { 'content-encoding': 'gzip' })
    const settings = { database: 'whence', enable_http_compression: '1', query: 'SELECT * FROM numbers' }
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    const address = `/?${new URLSearchParams(settings).toString()}`
    socket.write(
      `POST ${address} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    const answer = Buffer.concat(await socket.toArray())
    const bodyAt = answer.indexOf('\r\n\r\n') + 4
    expect(answer.subarray(0, bodyAt).toString().toLowerCase()).to.contain('content-encoding: gzip')
    expect(gunzipSync(answer.subarray(bodyAt)).toString()).to.equal('1\tone\n')
    const unknown = await ask('x', { query }, { 'content-encoding': 'br' })
    expect(unknown.status).to.equal(501)
  })

  it('ends on SIGTERM after what it has begun, and starts again with everything', async () => {
    const query = encodeURIComponent('INSERT INTO whence.numbers FORMAT TabSeparated')
    const begun = request(`${origin}/?query=${query}`, { method: 'POST', headers: { expect: '100-continue' } })
    begun.flushHeaders()
    await once(begun, 'continue')
    const ended = server.end()
    begun.end('1\tone\n')
    const [response] = (await once(begun, 'response')) as [IncomingMessage]
    expect(response.statusCode).to.equal(200)
    response.resume()
    expect(await ended).to.equal(0)
    await server.restart()
    expect(await rows()).to.equal('1\tone\n')
  })

  async function ask(
    body: string | Buffer,
    parameters: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
    const address = `${origin}/?${new URLSearchParams({ database: 'whence', ...parameters }).toString()}`
    const response = await fetch(address, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
})

describe('ClickHouse fixture with a password', function () {
  this.timeout(60_000)
  let server: ClickHouseServer

  before(async () => {
    server = await startClickHouse({ user: 'writer', password: 'a secret:with@signs' })
  })
  after(() => server.stop())

  it('lets only its user in, by each of three ways', async () => {
    const { origin } = new URL(server.url)
    const basic = (password: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(`writer:${password}`).toString('base64')}`,
    })
    const secret = 'a secret:with@signs'
    const tries: readonly (readonly [Record<string, string>, string])[] = [
      [basic(secret), ''],
      [{ 'x-clickhouse-user': 'writer', 'x-clickhouse-key': secret }, ''],
      [{}, `&user=writer&password=${encodeURIComponent(secret)}`],
      [basic('wrong'), ''],
      [{}, ''],
      [{ 'x-clickhouse-user': 'default' }, ''],
    ]
    const answers = await Promise.all(
      tries.map(async ([headers, more]) => (await fetch(`${origin}/?query=SELECT+1${more}`, { headers })).status),
    )
    expect(answers).to.deep.equal([200, 200, 200, 403, 403, 403])
  })
})

describe('Statements of the ClickHouse fixture', () => {
  it('end at the rows of an insert', () => {
    const split = (statement: string): readonly (string | undefined)[] => {
      const found = splitInsert(Buffer.from(statement))
      return [found?.head.trim(), found?.format, found?.rows.toString()]
    }
    expect(split("insert into t (format, `values`) settings a = 'FORMAT X' format TSV\n1\t2\n")).to.deep.equal([
      "insert into t (format, `values`) settings a = 'FORMAT X'",
      'TSV',
      '1\t2\n',
    ])
    expect(split('-- FORMAT CSV\nINSERT INTO t VALUES (1)')).to.deep.equal([
      '-- FORMAT CSV\nINSERT INTO t',
      'Values',
      ' (1)',
    ])
    expect(split('INSERT INTO t SELECT 1 FORMAT TSV')).to.deep.equal([undefined, undefined, undefined])
    expect(split('SELECT 1 FORMAT TSV')).to.deep.equal([undefined, undefined, undefined])
  })

  it('have their format outside brackets and quotes', () => {
    expect(
      formatOf("SELECT 'FORMAT CSV', format('{}', 1) FROM (SELECT 1 FORMAT TSV) FORMAT JSON SETTINGS a = 1"),
    ).to.equal('JSON')
    expect(formatOf('SELECT 1')).to.equal(null)
  })
})
