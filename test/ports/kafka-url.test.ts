/** What a `kafka:` URL may say, and what it may not. */

import { expect } from 'chai'
import fc from 'fast-check'

import type { KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'

describe('a kafka: URL', () => {
  it('needs no more than a broker', () => {
    expect(accepted('kafka://localhost')).to.deep.equal({
      brokers: ['localhost:9092'],
      tls: null,
      sasl: null,
      prefix: '',
      layout: {
        partitions: { records: 12, waiting: 3, 'dead-letters': 3, deliver: 12, retries: 3, webhooks: 3, mail: 3 },
        replication: 3,
        minInSync: 2,
        isUnsafeAllowed: false,
      },
    })
  })

  it('names several brokers, by IPv6 address too', () => {
    expect(accepted('kafka://a.acme.dev:1,b:9093,[::1]:7/').brokers).to.deep.equal([
      'a.acme.dev:1',
      'b:9093',
      '[::1]:7',
    ])
  })

  it('carries user name and password in percent codes, by SCRAM-SHA-512 unless it says otherwise', () => {
    const { sasl } = accepted('kafka://user%40acme:p%3A%2F%3Fw@b')
    expect(sasl).to.deep.equal({ mechanism: 'scram-sha-512', username: 'user@acme', password: 'p:/?w' })
    expect(accepted('kafka://u:p@b?sasl=plain').sasl?.mechanism).to.equal('plain')
    expect(accepted('kafka://u:p@b?sasl=scram-sha-256').sasl?.mechanism).to.equal('scram-sha-256')
  })

  it('brings back every user name and password', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (username, password) => {
          const userInfo = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
          expect(accepted(`kafka://${userInfo}@b`).sasl).to.deep.include({ username, password })
        },
      ),
    )
  })

  it('asks for TLS, with files if there are some', () => {
    expect(accepted('kafka://b?tls=1').tls).to.deep.equal({ caFile: null, certFile: null, keyFile: null })
    const { tls } = accepted('kafka://b?tls=1&ca=/a/ca.pem&cert=/a/c.pem&key=/a/k.pem')
    expect(tls).to.deep.equal({ caFile: '/a/ca.pem', certFile: '/a/c.pem', keyFile: '/a/k.pem' })
  })

  it('says how topics are laid out', () => {
    const { layout, prefix } = accepted('kafka://b?prefix=whence.&partitions=6&replication=1&unsafe=allow')
    expect(prefix).to.equal('whence.')
    const { partitions, ...rest } = layout
    expect(new Set(Object.values(partitions))).to.deep.equal(new Set([6]))
    expect(rest).to.deep.equal({ replication: 1, minInSync: 1, isUnsafeAllowed: true })
  })

  it('says how many partitions a group of topics has, beside all others', () => {
    const { partitions } = accepted('kafka://b?partitions-records=48&partitions-dead-letters=1').layout
    expect(partitions).to.include({ records: 48, 'dead-letters': 1, waiting: 3, deliver: 12 })
    expect(accepted('kafka://b?partitions=6&partitions-retries=2').layout.partitions).to.include({
      records: 6,
      retries: 2,
    })
  })

  for (const url of [
    'kafka:',
    'kafka://',
    'kafka:b:9092',
    'http://b:9092',
    'kafka://b:0',
    'kafka://b:65536',
    'kafka://b:port',
    'kafka://a,,b',
    'kafka://b/path',
    'kafka://b?tls=yes',
    'kafka://b?ca=/a/ca.pem',
    'kafka://b?tls=1&cert=/a/c.pem',
    'kafka://u@b',
    'kafka://:p@b',
    'kafka://u:%zz@b',
    'kafka://b?sasl=plain',
    'kafka://u:p@b?sasl=gssapi',
    'kafka://b?acks=0',
    'kafka://b?tls=1&tls=0',
    'kafka://b?prefix=a/b',
    'kafka://b?partitions=0',
    'kafka://b?partitions-records=0',
    'kafka://b?partitions-visits=3',
    'kafka://b?partitions=1e3',
    'kafka://b?replication=11',
    'kafka://b?replication=2&min-in-sync=3',
    'kafka://b?unsafe=yes',
    'kafka://b?tls=1#x',
  ]) {
    it(`may not be ${url}`, () => {
      expect(parseKafkaUrl(url).ok).to.equal(false)
    })
  }

  it('is refused without its password in the reason', () => {
    for (const url of [
      'kafka://u:secret@',
      'kafka://u:secret@b:x',
      'kafka://u:secret@b?sasl=x',
      'kafka://u:secret@b?x=1',
    ]) {
      const parsed = parseKafkaUrl(url)
      expect(parsed.ok).to.equal(false)
      expect(JSON.stringify(parsed)).to.not.include('secret')
    }
  })
})

function accepted(url: string): KafkaSettings {
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(parsed.why)
  return parsed.value
}
