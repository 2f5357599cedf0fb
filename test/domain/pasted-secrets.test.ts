/** Values of Secrets as people make them: with what a file, an editor or the clipboard added. */

import { expect } from 'chai'

import { compileSettings } from '../../runtime/settings/settings.ts'
import { compile, organization, resource, secret, webhook, website } from '../../fixtures/service/manifests.ts'
import type { Manifest } from '../../fixtures/service/manifests.ts'

const ACME = organization('acme')
const SITE = website('site')

const destination = (provider: string, block: Readonly<Record<string, unknown>>): Manifest =>
  resource('Destination', 'out', { websiteRef: { name: 'site' }, provider, ...block })
const ofKey = { name: 'keys', key: 'one' }
const stream = (goal: Readonly<Record<string, unknown>>): Manifest =>
  resource('LogStream', 'out', { organizationRef: { name: 'acme' }, ...goal })
const s3 = { endpoint: 'https://s3.example', region: 'eu', bucket: 'logs', credentialsRef: { name: 'keys' } }

/** Each object that takes values from a Secret, and the keys that it reads. */
const READERS: Readonly<Record<string, { readonly object: Manifest; readonly keys: readonly string[] }>> = {
  ga4: { object: destination('ga4', { ga4: { measurementId: 'G-ABC1', apiSecretRef: ofKey } }), keys: ['one'] },
  meta: { object: destination('meta', { meta: { pixelId: '1', accessTokenRef: ofKey } }), keys: ['one'] },
  tiktok: { object: destination('tiktok', { tiktok: { pixelCode: 'C1', accessTokenRef: ofKey } }), keys: ['one'] },
  x: { object: destination('x', { x: { pixelId: 'p1', eventId: 'tw-p1-e1', pixelTokenRef: ofKey } }), keys: ['one'] },
  google_ads: {
    object: destination('google_ads', {
      googleAds: { customerId: '1', conversionActionId: '2', credentialsRef: { name: 'keys' } },
    }),
    keys: ['client-id', 'client-secret', 'refresh-token'],
  },
  'a webhook': { object: webhook('out', { secretRef: ofKey }), keys: ['one'] },
  'a webhook that changes its secret': {
    object: webhook('out', { secretRef: ofKey, previousSecretRef: { name: 'keys', key: 'two' } }),
    keys: ['one', 'two'],
  },
  'a stream to a webhook': {
    object: stream({ webhook: { url: 'https://logs.acme.dev/', secretRef: ofKey } }),
    keys: ['one'],
  },
  'a stream to a bucket': {
    object: stream({ s3 }),
    keys: ['access-key-id', 'secret-access-key', 'session-token'],
  },
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a value that was pasted into a Secret', () => {
  const AROUND = ['\n', '\r\n', '\n\n', ' ', '\t', '\u00a0', '\u200b', '\ufeff', '\0', '\ufe0f', '\u2800', '\u3164']
  const WITHIN = ['\n', '\r\n', '\t', '\0', '\u200b', '\u2028', '\u00a0', '\u202e', '\ufe0f', '\u2800', '\u034f']

  for (const [name, { object, keys }] of Object.entries(READERS)) {
    const withValues = (values: Readonly<Record<string, string>>) => compile(ACME, SITE, secret('keys', values), object)

    it(`counts without what stands around it, for ${name}`, () => {
      for (const extra of AROUND) {
        const values = Object.fromEntries(keys.map((key) => [key, `${extra}value of ${key}${extra}`]))
        const data = Object.fromEntries(Object.entries(values).map(([key, text]) => [key, base64(text)]))
        for (const made of [withValues(values), compile(ACME, SITE, { ...secret('keys', {}), data }, object)]) {
          expect(made.problems, JSON.stringify(extra)).to.deep.equal([])
          const [credentials = {}] = made.credentials.values()
          expect(Object.values(credentials)).to.have.members(keys.map((key) => `value of ${key}`))
        }
      }
    })

    it(`is refused with a line break or an invisible character in it, for ${name}`, () => {
      for (const key of keys)
        for (const between of WITHIN) {
          const { problems, credentials } = withValues({
            ...Object.fromEntries(keys.map((each) => [each, 'plain'])),
            [key]: `abc${between}def`,
          })
          expect(problems, JSON.stringify(between)).to.have.length(1)
          expect(problems[0]).to.include({ reason: 'InvalidField' })
          expect(problems[0]?.message).to.contain(key).and.to.contain('line break or an invisible character')
          expect(problems[0]?.message).not.to.contain('abc')
          expect(credentials.size).to.equal(0)
        }
    })

    it(`is missing if nothing else stands there, for ${name}`, () => {
      const { problems } = withValues(Object.fromEntries(keys.map((key) => [key, ' \n'])))
      expect(problems[0]).to.include({ reason: 'RefNotFound' })
    })

    it(`is refused in quotation marks, for ${name}`, () => {
      for (const quoted of [
        '"abc"',
        "'abc'",
        '\u201cabc\u201d',
        '`abc`',
        '\u201eabc\u201c',
        '\u00ababc\u00bb',
        '\u2039abc\u203a',
      ]) {
        const { problems } = withValues(Object.fromEntries(keys.map((key) => [key, quoted])))
        expect(problems[0]?.message, quoted).to.contain('stands in quotation marks')
      }
    })
  }

  it('stands beside a region without what stands around it, as requests are signed for it', () => {
    for (const region of ['eu\n', ' eu', 'eu\u200b', 'eu/s3', '"eu"', '']) {
      const { problems } = compile(
        ACME,
        SITE,
        secret('keys', { 'access-key-id': 'a', 'secret-access-key': 'b' }),
        stream({ s3: { ...s3, region } }),
      )
      expect(problems[0]?.field, JSON.stringify(region)).to.equal('/spec/s3/region')
    }
  })

  it('may be JSON of several lines where JSON belongs, and nothing else there', () => {
    const { object } = READERS['google_ads'] as { readonly object: Manifest }
    const withKey = (text: string) => compile(ACME, SITE, secret('keys', { 'service-account.json': text }), object)
    const json = JSON.stringify({ client_email: 'a@b.dev', private_key: '-----BEGIN\nPRIVATE' }, null, 2)
    const made = withKey(`\ufeff${json}\r\n`)
    expect(made.problems).to.deep.equal([])
    expect(made.credentials.get('acme/site/out')).to.deep.equal({ serviceAccountJson: json })
    for (const text of ['/etc/key.json', '[]', 'null', '"{}"', json.slice(0, -1)]) {
      const { problems } = withKey(text)
      expect(problems[0]?.message, text).to.contain('is not the JSON of a service account')
    }
  })
})

describe('a setting that comes from a Secret or a file', () => {
  it('counts without what stands around it', () => {
    const of = (env: Readonly<Record<string, string>>) =>
      compileSettings('api', [], {
        WHENCE_SECRET: 'a secret of enough characters for everybody',
        WHENCE_EVENT_LOG: 'kafka://127.0.0.1:9092\n',
        WHENCE_HOT_STATE: ' redis://:pw@127.0.0.1:6379\r\n',
        WHENCE_FACTS: 'http://127.0.0.1:8123\n',
        WHENCE_BASE_URL: 'https://whence.acme.dev\n',
        WHENCE_BRAND: 'acme\n',
        WHENCE_CATALOG: 'kubernetes:whence/whence',
        ...env,
      })
    const outcome = of({})
    expect(outcome.kind === 'problems' ? outcome.text : outcome.kind).to.equal('run')
    if (outcome.kind !== 'run') return
    expect(outcome.settings.eventLog?.url).to.equal('kafka://127.0.0.1:9092')
    expect(outcome.settings.hotState?.url).to.equal('redis://:pw@127.0.0.1:6379')
    expect(outcome.settings.brand).to.equal('acme')
    expect(of({ WHENCE_BRAND: '\n' })).to.have.nested.property('settings.brand', 'whence')
  })
})
