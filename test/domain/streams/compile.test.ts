/** What the compiler makes of a LogStream to a bucket, and what it refuses. */

import { expect } from 'chai'

import { streamsInForce } from '../../../delivery/streams/in-force.ts'
import { compile, logStream, organization, resource, secret } from '../../../fixtures/service/manifests.ts'

const KEYS = { 'access-key-id': 'id', 'secret-access-key': 'made-up' }
const S3 = {
  endpoint: 'https://s3.acme.dev',
  region: 'eu-central-1',
  bucket: 'acme-logs',
  prefix: '/logs/2026/',
  credentialsRef: { name: 'keys' },
}
const bucketStream = (s3: object, more: object = {}) =>
  resource('LogStream', 'logs', { organizationRef: { name: 'acme' }, s3: { ...S3, ...s3 }, ...more })
const problemsOf = (s3: object) =>
  compile(organization('acme'), secret('keys', KEYS), bucketStream(s3)).problems.map(
    ({ field, reason }) => `${field} ${reason}`,
  )

describe('a LogStream to a bucket', () => {
  it('becomes a target with its credentials', () => {
    const { catalog, credentials, problems } = compile(
      ...[organization('acme'), secret('keys', { ...KEYS, 'session-token': 'for-a-while' })],
      bucketStream({}, { flushSeconds: 10 }),
    )
    expect(problems).to.deep.equal([])
    const [inForce] = streamsInForce(catalog, credentials)
    expect(inForce?.stream).to.deep.include({ webhook: null, flushSeconds: 10 })
    expect(inForce?.target).to.deep.equal({
      kind: 's3',
      endpoint: 'https://s3.acme.dev',
      region: 'eu-central-1',
      bucket: 'acme-logs',
      prefix: 'logs/2026',
      addressing: 'Path',
      encryption: null,
      accessKeyId: 'id',
      secretAccessKey: 'made-up',
      sessionToken: 'for-a-while',
    })
  })

  it('is refused if its parts could lead elsewhere than into that bucket', () => {
    expect(problemsOf({})).to.deep.equal([])
    for (const prefix of ['../other', 'a/../../b', 'a//b', '.', 'a\u0000b'])
      expect(problemsOf({ prefix }), prefix).to.deep.equal(['/spec/s3/prefix InvalidField'])
    for (const bucket of ['a/b', 'UPPER', '-acme', 'acme.'])
      expect(problemsOf({ bucket }), bucket).to.deep.equal(['/spec/s3/bucket InvalidField'])
    for (const endpoint of [
      'https://s3.acme.dev/path',
      'https://s3.acme.dev/?a=b',
      'http://s3.acme.dev',
      'https://10.0.0.1',
    ])
      expect(problemsOf({ endpoint }), endpoint).to.deep.equal(['/spec/s3/endpoint InvalidField'])
  })

  it('needs both keys', () => {
    const { problems } = compile(organization('acme'), secret('keys', { 'access-key-id': 'id' }), bucketStream({}))
    expect(problems.map(({ field, reason }) => [field, reason])).to.deep.equal([
      ['/spec/s3/credentialsRef', 'RefNotFound'],
    ])
  })
})

describe('a LogStream that is deleted and made again', () => {
  const uidIn = (metadata: object) =>
    compile(
      ...[organization('acme'), secret('keys', KEYS)],
      resource('LogStream', 'logs', { organizationRef: { name: 'acme' }, s3: S3 }, { ...metadata }),
    ).catalog.organizations.get('acme')?.logStreams[0]?.uid

  it('is told by its UID from the one before, if it has one', () => {
    expect([uidIn({ uid: 'one' }), uidIn({ uid: 'two' }), uidIn({}), uidIn({ uid: 7 })]).to.deep.equal([
      'one',
      'two',
      '',
      '',
    ])
  })
})

describe('a LogStream to a webhook', () => {
  const KEY = { name: 'keys', key: 'now' }
  const compiled = (webhook: object) =>
    compile(
      ...[organization('acme'), secret('keys', { now: 'new', before: 'old' })],
      logStream('logs', { webhook: { url: 'https://logs.acme.dev/in', secretRef: KEY, ...webhook } }),
    )
  const targetOf = (webhook: object) => {
    const { catalog, credentials, problems } = compiled(webhook)
    expect(problems).to.deep.equal([])
    return streamsInForce(catalog, credentials)[0]?.target
  }
  const TARGET = { kind: 'webhook', url: 'https://logs.acme.dev/in', secret: 'new' }

  it('is signed by its secret, and by the one before as long as it says', () => {
    expect(targetOf({})).to.deep.equal({ ...TARGET, previous: null, previousUntilMs: null })
    const previousSecretRef = { name: 'keys', key: 'before' }
    expect(targetOf({ previousSecretRef })).to.deep.equal({ ...TARGET, previous: 'old', previousUntilMs: null })
    const previousSecretUntil = '2026-11-29T06:00:00Z'
    expect(targetOf({ previousSecretRef, previousSecretUntil })).to.deep.equal({
      ...TARGET,
      previous: 'old',
      previousUntilMs: Date.UTC(2026, 10, 29, 6),
    })
  })

  it('is refused if the secret before is not there', () => {
    const { problems } = compiled({ previousSecretRef: { name: 'keys', key: 'gone' } })
    expect(problems.map(({ field, reason }) => [field, reason])).to.deep.equal([
      ['/spec/webhook/previousSecretRef/key', 'RefNotFound'],
    ])
  })

  it('is refused if its filter names a kind that Logs do not know, as nothing would ever be sent', () => {
    const problems = (kinds: readonly string[]) =>
      compile(
        ...[organization('acme'), secret('keys', { now: 'new' })],
        logStream('logs', { webhook: { url: 'https://logs.acme.dev/in', secretRef: KEY }, filter: { kinds } }),
      ).problems.map(({ field, reason }) => [field, reason])
    expect(problems(['visit', 'handoff', 'delivery'])).to.deep.equal([])
    expect(problems(['visit', 'Copied command'])).to.deep.equal([['/spec/filter/kinds/1', 'InvalidField']])
  })
})
