/** Which API keys open something, and how a request shows one. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'

import { compileCatalog, type Compilation } from '../../../domain/catalog/compile-catalog.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { apiKeyText, presentedKey, type ApiKey } from '../../../domain/people/api-key.ts'
import { hashOfPass, PASS_BYTES, passInForce } from '../../../domain/people/pass.ts'
import { findings, organization, resource } from '../../../fixtures/service/manifests.ts'

const NOW = '2026-11-28T00:00:00Z'
const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const textOf = (number: number): string => apiKeyText(new Uint8Array(PASS_BYTES).fill(number))
const keyHash = (number: number): string => hashOfPass(textOf(number), sha256Hex)

interface KeySpec {
  readonly of?: string
  readonly expiresAt?: string
  readonly number?: number
}

function apiKey(name: string, { of = 'acme', expiresAt = '2027-06-30T00:00:00Z', number = 1 }: KeySpec = {}): unknown {
  const spec = { organizationRef: { name: of }, scopes: ['figures'], expiresAt, keyHash: keyHash(number) }
  return resource('ApiKey', name, spec)
}

function compileAt(time: string, ...objects: readonly unknown[]): Compilation {
  return compileCatalog({
    objects: objects.map((value, index) => ({ value, locate: (field) => `object ${index}${field}` })),
    sha256Hex,
    nowMs: Date.parse(time),
  })
}

describe('API keys', () => {
  const ACME = organization('acme')
  const namesOf = ({ people }: Compilation): readonly string[] => [...people.apiKeys.values()].map(({ name }) => name)

  it('belong to one organisation, and are no part of the catalog', () => {
    const without = compileAt(NOW, ACME)
    const { people, problems, catalog } = compileAt(NOW, ACME, apiKey('grafana'))
    expect(problems).to.deep.equal([])
    expect(catalog.version).to.equal(without.catalog.version)
    expect([...people.apiKeys.values()]).to.deep.equal([
      {
        namespace: 'default',
        name: 'grafana',
        organization: 'acme',
        scopes: ['figures'],
        expiresAtMs: Date.parse('2027-06-30T00:00:00Z'),
        hash: keyHash(1),
      },
    ])
  })

  it('end within a year, and open nothing from then on', () => {
    const far = compileAt(NOW, ACME, apiKey('far', { expiresAt: '2027-11-30T00:00:00Z' }))
    expect(findings(far)).to.deep.equal(['ApiKey/far InvalidField spec.expiresAt: must be at most 366 days ahead'])
    const last = apiKey('last', { expiresAt: '2027-11-29T00:00:00Z' })
    expect(namesOf(compileAt(NOW, ACME, last))).to.deep.equal(['last'])
    expect(namesOf(compileAt('2027-11-28T23:59:59Z', ACME, last))).to.deep.equal(['last'])
    const ended = compileAt('2027-11-29T00:00:00Z', ACME, last)
    expect([namesOf(ended), findings(ended)]).to.deep.equal([
      [],
      ['ApiKey/last Expired spec.expiresAt: the key has ended'],
    ])
  })

  it('are compiled again when one ends, or comes near enough', () => {
    const expiresAt = '2027-12-24T00:00:00Z'
    const near = Date.parse(expiresAt) - LIMITS.passDays * 86_400_000
    const nextOf = (time: string): number => compileAt(time, ACME, apiKey('a', { expiresAt })).people.changesAtMs
    expect(nextOf(NOW)).to.equal(near)
    expect(nextOf(new Date(near).toISOString())).to.equal(Date.parse(expiresAt))
    expect(nextOf(expiresAt)).to.equal(Infinity)
  })

  it('are at most 20 in an organisation, the oldest, without those that have ended', () => {
    const ended = apiKey('ended', { expiresAt: '2026-11-27T00:00:00Z', number: 99 })
    const many = Array.from({ length: 21 }, (_, number) => apiKey(`k${number}`, { number }))
    const compiled = compileAt(
      NOW,
      ACME,
      organization('other'),
      ended,
      ...many,
      apiKey('o', { of: 'other', number: 50 }),
    )
    expect(namesOf(compiled)).to.deep.equal([...Array.from({ length: 20 }, (_, number) => `k${number}`), 'o'])
    expect(findings(compiled)).to.include('ApiKey/k20 TooMany an organisation may have 20 API keys')
  })

  it('are one object each: what has the key of an older one opens nothing, and learns nothing of that one', () => {
    const compiled = compileAt(NOW, ACME, organization('other'), apiKey('mine'), apiKey('copy', { of: 'other' }))
    expect([...compiled.people.apiKeys.values()].map((key) => key.organization)).to.deep.equal(['acme'])
    expect(findings(compiled)).to.deep.equal(['ApiKey/copy Duplicate spec.keyHash: an older ApiKey has the same key'])
  })

  it('belong to an organisation of their own namespace', () => {
    const elsewhere = { organizationRef: { name: 'acme', namespace: 'default' } }
    const spec = { ...elsewhere, scopes: ['figures'], expiresAt: '2027-06-30T00:00:00Z', keyHash: keyHash(1) }
    const compiled = compileAt(NOW, ACME, resource('ApiKey', 'a', spec, { namespace: 'b' }))
    expect(namesOf(compiled)).to.deep.equal([])
    expect(findings(compiled).join()).to.include('UnknownField')
  })
})

describe('a key that a request shows', () => {
  const key: ApiKey = {
    namespace: 'default',
    name: 'grafana',
    organization: 'acme',
    scopes: ['figures'],
    expiresAtMs: 1_000,
    hash: keyHash(7),
  }

  it('is whk_ and 43 characters, in one way of writing them', () => {
    const text = textOf(7)
    expect(text).to.match(/^whk_[\w-]{43}$/)
    for (const header of [`Bearer ${text}`, `bearer ${text}`, `BEARER  ${text} `])
      expect(presentedKey(header)).to.equal(text)
    // Two bits of the last character stand for nothing.
    const twin = `${text.slice(0, -1)}d`
    expect(Buffer.from(twin.slice(4), 'base64url')).to.deep.equal(Buffer.from(text.slice(4), 'base64url'))
    for (const header of [
      undefined,
      '',
      text,
      `Basic ${text}`,
      `Bearer ${twin}`,
      `Bearer ${text}A`,
      `Bearer WHK_${text.slice(4)}`,
      `Bearer ${text}, Bearer ${text}`,
      `Bearer whk_${'+'.repeat(43)}`,
    ])
      expect(presentedKey(header), header).to.equal(null)
  })

  it('opens what it is for until it ends', () => {
    const found = (number: number, nowMs: number) => passInForce(new Map([[key.hash, key]]), keyHash(number), nowMs)
    expect(found(7, 999)).to.equal(key)
    expect(found(7, 1_000)).to.equal(null)
    expect(found(8, 0)).to.equal(null)
    expect(passInForce(new Map(), keyHash(7), 0)).to.equal(null)
  })
})
