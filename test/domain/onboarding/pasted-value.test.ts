/** The guides to each provider: they name what its block needs, and read what people paste. */

import { expect } from 'chai'

import { readPasted } from '../../../domain/onboarding/pasted-value.ts'
import type { GuideField } from '../../../domain/providers/guide.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../../../domain/providers/index.ts'

const KEY_FILE = JSON.stringify({ type: 'service_account', client_email: 'a@b.iam', private_key: '-----BEGIN' })

const guideOf = (provider: ProviderId) => PROVIDER_DESCRIPTORS[provider].guide ?? expect.fail(`no guide to ${provider}`)

function fieldOf(provider: ProviderId, name: string): GuideField {
  const { settings, ways } = guideOf(provider)
  const fields = [...settings, ...ways.flatMap((way) => way.fields)]
  return fields.find((field) => field.name === name) ?? expect.fail(`no field ${name}`)
}

describe('guides to destinations', () => {
  for (const provider of PROVIDER_IDS)
    it(`ask for all that the block of ${provider} needs, and for nothing that it does not know`, () => {
      const { schema, secret } = PROVIDER_DESCRIPTORS[provider].block
      const { settings, ways } = guideOf(provider)
      const needed = (schema.required ?? []).filter((name) => name !== secret.refField)
      expect(settings.filter(({ isOptional }) => isOptional !== true).map(({ name }) => name)).to.deep.equal(needed)
      expect(Object.keys(schema.properties ?? {})).to.include.members(settings.map(({ name }) => name))
      const sets = ways.map(({ fields }) => fields.map(({ name }) => name))
      if ('credential' in secret) expect(sets.map((names) => names.length)).to.deep.equal([1])
      else expect(sets).to.have.deep.members(secret.sets.map((set) => Object.keys(set)))
    })

  for (const provider of PROVIDER_IDS)
    it(`take their own examples of ${provider}`, () => {
      for (const field of guideOf(provider).settings)
        expect(readPasted(provider, field, field.example), field.label).to.include({ ok: true })
    })

  it('read what was meant from what was pasted', () => {
    const cases: readonly (readonly [ProviderId, string, string, string])[] = [
      ['ga4', 'measurementId', ' g-abc1234567\n', 'G-ABC1234567'],
      ['ga4', 'measurementId', '"G-ABC1234567"', 'G-ABC1234567'],
      ['ga4', 'api-secret', '\u200bAbC_1-2\t', 'AbC_1-2'],
      ['google_ads', 'customerId', '123-456-7890', '1234567890'],
      ['google_ads', 'customerId', '123 456 7890 ', '1234567890'],
      ['google_ads', 'conversionActionId', 'customers/123/conversionActions/42', '42'],
      ['google_ads', 'conversionActionId', 'https://ads.google.com/aw/conversions/detail?ocid=9&ctId=42&euid=1', '42'],
      ['google_ads', 'loginCustomerId', '  ', ''],
      ['google_ads', 'service-account.json', `\ufeff${KEY_FILE}\n`, KEY_FILE],
      ['meta', 'pixelId', ' 123456 ', '123456'],
      ['x', 'eventId', "'tw-o87ne-abc12'", 'tw-o87ne-abc12'],
    ]
    for (const [provider, name, pasted, value] of cases)
      expect(readPasted(provider, fieldOf(provider, name), pasted), pasted).to.deep.equal({ ok: true, value })
  })

  it('say what is wrong with a value, and never repeat it', () => {
    const cases: readonly (readonly [ProviderId, string, string, RegExp])[] = [
      ['ga4', 'measurementId', 'UA-12345-1', /must be G- followed/],
      ['ga4', 'api-secret', ' ', /is missing/],
      ['google_ads', 'customerId', 'acme', /only digits/],
      ['google_ads', 'conversionActionId', 'https://ads.google.com/aw/overview', /only digits/],
      ['google_ads', 'client-secret', 'GOCSPX one', /spaces or line breaks/],
      ['google_ads', 'service-account.json', '{"client_email":"a@b"}', /client_email and private_key/],
      ['google_ads', 'service-account.json', 'not json', /whole JSON file/],
      ['meta', 'pixelId', 'my-pixel', /only digits/],
      ['tiktok', 'access-token', 'a\nb', /spaces or line breaks/],
      ['x', 'pixelId', 'a b', /only letters/],
    ]
    for (const [provider, name, pasted, why] of cases) {
      const read = readPasted(provider, fieldOf(provider, name), pasted)
      expect(read.ok, pasted).to.equal(false)
      if (!read.ok) expect(` ${read.why} `).to.match(why)
      if (!read.ok && pasted.trim() !== '') expect(read.why).to.not.include(pasted)
    }
  })
})
