/** Destinations connected step by step, each at a stand-in of its provider: with right values, with values as people paste them, and with wrong ones. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { createTrials } from '../../bin/wiring/trials.ts'
import { PROVIDER_URL_SETTINGS } from '../../domain/providers/addresses.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import { keysOf, recordOf } from '../../domain/typed-keys.ts'
import { STAND_INS } from '../../stand-ins/index.ts'
import type { ProviderStandIn } from '../../stand-ins/server.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { LOOKS, WIDE } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const ADMIN = 'admin@acme.dev'
const SECRET = 'right-secret-of-the-test'
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

interface Tried {
  /** As it is pasted, by label. */
  readonly pasted: Readonly<Record<string, string>>
  /** As it is stored. */
  readonly settings: Readonly<Record<string, string>>
  /** A value that the page refuses, and its words. */
  readonly wrong: readonly [label: string, value: string, words: RegExp]
}

const TRIED: { readonly [P in ProviderId]: Tried } = {
  ga4: {
    pasted: { 'Measurement ID': ' g-abc1234567 ', 'Secret value': `${SECRET}\n` },
    settings: { measurementId: 'G-ABC1234567' },
    wrong: ['Measurement ID', 'UA-12345-1', /must be G- followed/],
  },
  google_ads: {
    pasted: {
      'Customer ID': '123-456-7890',
      'Conversion action': 'https://ads.google.com/aw/conversions/detail?ocid=9&ctId=42',
      'Client ID': 'client.apps.example',
      'Client secret': `"${SECRET}"`,
      'Refresh token': `1//${SECRET} `,
    },
    settings: { customerId: '1234567890', conversionActionId: '42' },
    wrong: ['Customer ID', 'acme', /must be only digits/],
  },
  meta: {
    pasted: { 'Dataset ID': '1234 5678', 'Access token': SECRET },
    settings: { pixelId: '12345678' },
    wrong: ['Dataset ID', 'my-pixel', /must be only digits/],
  },
  tiktok: {
    pasted: { 'Pixel ID': 'c4abcde', 'Access token': ` ${SECRET}` },
    settings: { pixelCode: 'C4ABCDE' },
    wrong: ['Access token', 'two words', /must not have spaces/],
  },
  x: {
    pasted: { 'Pixel ID': "'o87ne'", 'Event ID': 'tw-o87ne-abc12', 'Access token': SECRET },
    settings: { pixelId: 'o87ne', eventId: 'tw-o87ne-abc12' },
    wrong: ['Pixel ID', 'o 8', /only letters/],
  },
}

describe('the page that connects a destination', function () {
  this.timeout(300_000)
  let stage: PagesStage
  const standIns: ProviderStandIn[] = []
  before(async () => {
    const urls = new Map<string, string>()
    for (const setting of keysOf(STAND_INS)) {
      const standIn = await STAND_INS[setting]({ port: 0 })
      standIns.push(standIn)
      urls.set(setting, standIn.url)
    }
    const providerUrls = recordOf(PROVIDER_URL_SETTINGS, (setting) => urls.get(setting) ?? null)
    const settings = { ...providerUrls, httpsProxy: null, noProxy: [], proxyNames: 'Trusted' } as const
    const members = {
      'owner@acme.dev': 'Owner',
      [ADMIN]: 'Admin',
      'member@acme.dev': 'Member',
      'viewer@acme.dev': 'Viewer',
    }
    stage = await startPages({
      manifests: organizationOf('acme', { members }) + websiteOf('acme-site', 'acme'),
      tryDestination: createTrials(settings, Date.now),
    })
  })
  after(async () => {
    await stage?.stop()
    for (const standIn of standIns) await standIn.close()
  })

  const open = async (provider: ProviderId, email = ADMIN, look = WIDE) => {
    const opened = await stage.open(email, look)
    await opened.page.goto(`${stage.url}/app/acme/connect/${provider}`)
    await opened.page.getByRole('heading', { level: 1 }).waitFor()
    return opened
  }
  const fill = async (page: Page, provider: ProviderId) => {
    const { ways } = PROVIDER_DESCRIPTORS[provider].guide ?? expect.fail(provider)
    if (ways.length > 1) await page.getByLabel(ways.at(-1)?.title ?? '').check()
    for (const [label, value] of Object.entries(TRIED[provider].pasted))
      await page.locator('form').getByLabel(label).first().fill(value)
  }

  for (const provider of PROVIDER_IDS) {
    const { name, block } = PROVIDER_DESCRIPTORS[provider]
    it(`connects ${name} with values as they are pasted, tried before, and goes live as a step of its own`, async () => {
      const { page, noise } = await open(provider)
      await fill(page, provider)
      expect(await page.getByRole('button', { name: /Connect, to/ }).count()).to.equal(0)
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByRole('heading', { name: `${name} takes it` }).waitFor()
      expect(await page.locator('main').innerText()).to.not.contain(SECRET)
      await page.getByRole('button', { name: /Connect, to/ }).click()
      await page.getByRole('heading', { name: `${name} is connected, to validate only` }).waitFor()
      const destinations = async () => {
        const cookies = await stage.signIn(ADMIN)
        const { body } = await stage.ask('GET', '/api/organizations/acme/resources/Destination', { cookies })
        return body['resources'].map(({ spec }: { readonly spec: Record<string, unknown> }) => spec)
      }
      const made = async () =>
        (await destinations()).find((spec: Record<string, unknown>) => spec['provider'] === provider)
      expect(await made()).to.deep.include({ mode: 'Validate', websiteRef: { name: 'acme-site' } })
      expect((await made())[block.field]).to.deep.include(TRIED[provider].settings)
      await page.getByRole('button', { name: `Go live with ${name}` }).click()
      await page.getByRole('heading', { name: `Installs count at ${name} now` }).waitFor()
      expect(await made()).to.deep.include({ mode: 'Live' })
      expect(noise).to.deep.equal([])
      await page.close()
    })

    it(`names what is wrong with a value for ${name}, and asks nobody`, async () => {
      const { page, noise } = await open(provider)
      await fill(page, provider)
      const [label, value, words] = TRIED[provider].wrong
      await page.locator('form').getByLabel(label).first().fill(value)
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByText(words).waitFor()
      expect(await page.locator('.trial').count()).to.equal(0)
      expect(noise).to.deep.equal([])
      await page.close()
    })
  }

  it('leaves the last step to those who may let deliveries count', async () => {
    const { page } = await open('ga4', 'member@acme.dev')
    await fill(page, 'ga4')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('button', { name: /Connect, to/ }).click()
    await page.getByRole('heading', { name: /to validate only/ }).waitFor()
    expect(await page.getByRole('button', { name: /Go live/ }).count()).to.equal(0)
    await page.close()
    const viewer = await open('ga4', 'viewer@acme.dev')
    await viewer.page.getByText('Your role does not allow this').waitFor()
    await viewer.page.close()
  })

  it('tries again before it connects values that were changed', async () => {
    const { page } = await open('x')
    await fill(page, 'x')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('button', { name: /Connect, to/ }).waitFor()
    await page.getByRole('textbox', { name: 'Event ID' }).fill('tw-o87ne-other')
    expect(await page.getByRole('button', { name: /Connect, to/ }).count()).to.equal(0)
    await page.close()
  })

  for (const look of LOOKS)
    it(`is shown, ${look.width} wide and ${look.scheme}`, async () => {
      for (const provider of ['google_ads', 'ga4'] as const) {
        const { page } = await open(provider, ADMIN, look)
        await fill(page, provider)
        await page.getByRole('button', { name: 'Try it' }).click()
        await page.locator('.trial').waitFor()
        expect(await seriousFindings(page)).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0)
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true })
          await page.screenshot({
            path: join(PICTURES, `connect-${provider}-${look.width}-${look.scheme}.png`),
            fullPage: true,
          })
        }
        await page.close()
      }
    })
})
