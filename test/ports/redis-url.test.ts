/** Addresses of Redis: what each form means, and that none is taken that is half right. */

import { expect } from 'chai'

import { parseRedisUrl, RedisUrlError } from '../../ports/hot-state/redis/url.ts'

const PLAIN = {
  hosts: [{ host: '127.0.0.1', port: 6_379 }],
  username: null,
  password: null,
  database: 0,
  tls: null,
  sentinel: null,
}
const TLS = { ca: null, cert: null, key: null, servername: null }

describe('redis address', () => {
  const READ: readonly (readonly [string, object])[] = [
    ['redis://127.0.0.1', PLAIN],
    ['redis://127.0.0.1:6379/0', PLAIN],
    ['redis://[::1]:7000/3', { ...PLAIN, hosts: [{ host: '::1', port: 7_000 }], database: 3 }],
    ['redis://:secret@127.0.0.1', { ...PLAIN, password: 'secret' }],
    ['redis://whence:p%40ss%3Aw%2Frd@127.0.0.1', { ...PLAIN, username: 'whence', password: 'p@ss:w/rd' }],
    ['rediss://127.0.0.1', { ...PLAIN, tls: TLS }],
    [
      'rediss://127.0.0.1?ca=%2Fetc%2Fca.pem&cert=c.pem&key=k.pem&servername=redis.acme.dev',
      { ...PLAIN, tls: { ca: '/etc/ca.pem', cert: 'c.pem', key: 'k.pem', servername: 'redis.acme.dev' } },
    ],
    [
      'redis://user:pw@a,b:7000/1?sentinel=whence&sentinel-user=s&sentinel-password=t',
      {
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 7_000 },
        ],
        username: 'user',
        password: 'pw',
        database: 1,
        tls: null,
        sentinel: { name: 'whence', username: 's', password: 't' },
      },
    ],
  ]
  for (const [text, address] of READ) {
    it(`reads ${text}`, () => expect(parseRedisUrl(text)).to.deep.equal(address))
  }

  const REFUSED: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1', 'another scheme'],
    ['redis:127.0.0.1', 'no slashes'],
    ['redis://', 'no host'],
    ['redis://127.0.0.1:0', 'port 0'],
    ['redis://127.0.0.1:65536', 'a port too high'],
    ['redis://127.0.0.1/zero', 'a database that is no number'],
    ['redis://127.0.0.1/99999', 'a database too high'],
    ['redis://a,b', 'several hosts without Sentinel'],
    ['redis://a?sentinel=', 'an empty name'],
    ['redis://a?sentinel-password=x', 'credentials for no Sentinel'],
    ['redis://a?ca=x', 'certificates without TLS'],
    ['rediss://a?cert=x', 'a certificate without its key'],
    ['redis://a?whatever=1', 'an unknown parameter'],
    ['redis://a?sentinel=x&sentinel=y', 'a parameter twice'],
    ['redis://hunter2@a', 'a user without a password'],
    ['redis://user:@a', 'an empty password'],
    ['redis://user:%zz@a', 'a broken escape'],
  ]
  for (const [text, what] of REFUSED) {
    it(`refuses ${what}`, () => expect(() => parseRedisUrl(text)).to.throw(RedisUrlError))
  }

  it('never repeats a password', () => {
    for (const text of ['redis://u:hunter2@a?x=hunter2', 'redis://u:hunter2@a,b', 'redis://hunter2@a']) {
      expect(() => parseRedisUrl(text))
        .to.throw(RedisUrlError)
        .with.property('message')
        .that.does.not.include('hunter2')
    }
  })
})
