/** The logger: what must stay secret stays so, whatever it hides in. */

import { expect } from 'chai'

import { createLogger, withoutSecrets, redactValue, textLine } from '../../runtime/logger.ts'

/** Of key 0, issued on 21 November 2026. */
const RECEIPT = Buffer.concat([Buffer.from([0, ...issueTime(Date.UTC(2026, 10, 21))]), Buffer.alloc(25, 7)]).toString(
  'base64url',
)
const TOKEN = `wht_${RECEIPT}`

function issueTime(ms: number): readonly number[] {
  return [...Buffer.from(ms.toString(16).padStart(12, '0'), 'hex')]
}

function capture() {
  const lines: string[] = []
  const logger = createLogger({ program: 'test', level: 'info', write: (line) => lines.push(line) })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

describe('logger', () => {
  it('writes one line of JSON with level, time, program, fields and message', () => {
    const { logger, lines, last } = capture()
    logger.info({ jobId: 'a', ms: 3 }, 'delivered')
    expect(lines).to.have.length(1)
    expect(last()).to.include({ level: 'info', program: 'test', jobId: 'a', ms: 3, msg: 'delivered' })
    expect(Date.parse(String(last()['time']))).to.be.a('number').and.not.NaN
  })

  it('leaves out what is below its level', () => {
    const { logger, lines } = capture()
    logger.debug({ a: 1 }, 'unseen')
    expect(lines).to.deep.equal([])
  })

  it('gives its child the fields, redacted as well', () => {
    const { logger, last } = capture()
    logger.child({ role: 'ga4', apiSecret: 'hunter2' }).warn('slow')
    expect(last()).to.include({ role: 'ga4', apiSecret: '[redacted]', msg: 'slow' })
  })

  const NAMES = [
    'secret', 'apiSecret', 'api_secret', 'clientSecret', 'password', 'authorization', 'Cookie', 'set-cookie', 'receipt', 'receipts',
    'previous_receipt', 'handoff', 'token', 'accessToken', 'refresh_token', 'credentials', 'privateKey', 'rawPacket', 'ip',
    'clientAddress', 'remoteAddress', 'x-forwarded-for', 'address',
  ] // prettier-ignore
  for (const name of NAMES) {
    it(`hides what is called ${name}`, () => {
      expect(redactValue({ deep: { [name]: 'hunter2' } })).to.deep.equal({ deep: { [name]: '[redacted]' } })
      expect(JSON.stringify(redactValue({ [name]: ['hunter2', { a: 'hunter2' }] }))).not.to.contain('hunter2')
    })
  }

  it('shows counts, hashes, names and files of secret things', () => {
    const plain = {
      receiptCount: 3,
      addressHash: 'ab',
      secretFile: '/run/x',
      tokenName: 'x',
      credentialsRef: 'y',
      receipts: 3,
    }
    expect(redactValue(plain)).to.deep.equal(plain)
  })

  it('hides receipts and tokens in any text, messages and errors included', () => {
    expect(withoutSecrets(`a ${RECEIPT} b ${TOKEN}.`)).to.equal('a [receipt] b [token].')
    const { logger, lines } = capture()
    logger.error(
      { err: new Error(`bad ${RECEIPT}`, { cause: new Error(TOKEN) }), note: TOKEN },
      `failed for ${RECEIPT}`,
    )
    expect(lines.join('')).not.to.contain(RECEIPT)
  })

  it('shows what merely has the length of a receipt, such as the name of a file', () => {
    for (const name of [
      'website-of-the-documentation-of-our-product',
      'a'.repeat(43),
      '0123456789'.repeat(5).slice(0, 43),
    ])
      expect(withoutSecrets(`cannot read dashboard/${name}.yaml`)).to.equal(`cannot read dashboard/${name}.yaml`)
  })

  it('hides passwords in addresses and secrets in queries', () => {
    expect(withoutSecrets('redis://user:hunter2@host:6379')).to.equal('redis://[redacted]@host:6379')
    expect(withoutSecrets('POST /mp/collect?measurement_id=G-1&api_secret=hunter2&x=1')).to.equal(
      'POST /mp/collect?measurement_id=G-1&api_secret=[redacted]&x=1',
    )
  })

  it('keeps of an error only what every error has', () => {
    const error = Object.assign(new Error('connection lost'), {
      code: 'ECONNRESET',
      rows: ['canary'],
      rawPacket: Buffer.from('canary'),
    })
    const kept = redactValue({ err: error }) as { err: Record<string, unknown> }
    expect(Object.keys(kept.err)).to.have.members(['type', 'message', 'code', 'stack'])
    expect(JSON.stringify(kept)).not.to.contain('canary')
  })

  it('bounds long texts, deep and wide objects, cycles and bytes', () => {
    expect(withoutSecrets('x y '.repeat(10_000)).length).to.be.lessThan(2_100)
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(JSON.stringify(redactValue(cycle))).to.contain('[deep]')
    expect(redactValue(Array.from({ length: 1_000 }, () => 1))).to.have.length(100)
    expect(redactValue(Buffer.from('canary'))).to.equal('[6 bytes]')
  })

  it('writes for people on request, one line each, in which nothing controls the terminal', () => {
    const lines: string[] = []
    const logger = createLogger({ program: 'test', level: 'info', format: 'text', write: (line) => lines.push(line) })
    logger.warn(
      { object: 'Website/site', why: 'spec.id: is "empty"\u001b[2J', count: 2, err: new Error('no\nroom') },
      'manifest refused',
    )
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(
      /^\d\d:\d\d:\d\d WARN {2}manifest refused {2}object=Website\/site {2}why="spec.id: is .*count=2/,
    )
    expect(lines[0]?.slice(0, -1)).not.to.match(/[\x00-\x1f]/)
    expect(textLine('{"time":"2026-11-21T10:11:12.123Z","level":"info","msg":"a"}')).to.equal('10:11:12 INFO  a\n')
  })
})
