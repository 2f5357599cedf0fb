/** An install event as a fact and as an answer. */

import { expect } from 'chai'
import fc from 'fast-check'
import type { InstallPath, Organization, Website } from '../../domain/catalog.ts'
import {
  chooseInstallPath,
  duplicateAnswer,
  isOnlyCounted,
  readInstallEvent,
  recordInstall,
  unrecordedAnswer,
} from '../../domain/collection/install.ts'
import type { Install, Plan } from '../../domain/model.ts'
import { COUNTED, resolve } from '../../domain/collection/resolve.ts'
import { compile, organization, website } from '../../fixtures/service/manifests.ts'

const NOW_MS = Date.UTC(2026, 10, 21)
const BODY = { project: 'site', event_id: 'event-0001', installation_id: 'installation-1', event_type: 'first_run' }
const same = (text: string): string => text
const site = compile(organization('acme'), website('site')).catalog.websites.get('site')!

function organizationWith(paths: readonly (readonly [string, boolean])[], plan: Plan = 'Enterprise'): Organization {
  const installPaths: InstallPath[] = paths.map(([id, isPaused]) => ({ id, displayName: id, isPaused }))
  return { ...site.organization, plan, installPaths, firstInstallPath: installPaths[0]?.id ?? null }
}

describe('an install event', () => {
  it('has absent facts as empty ones', () => {
    expect(readInstallEvent(BODY, same)).to.deep.equal({
      eventId: 'event-0001',
      installationId: 'installation-1',
      eventType: 'first_run',
      receipts: [],
      handoff: null,
      platform: '',
      sentInstallPath: null,
      arch: '',
      browsers: [],
      defaultBrowser: '',
      timezone: '',
      language: '',
      productVersion: '',
      place: '',
      isCi: false,
      isContainer: false,
    })
  })

  it('accepts a text for a list, and keeps a whole list if it has several items', () => {
    const event = readInstallEvent({ ...BODY, browsers: 'a', arch: ['b', 'c'], language: [], timezone: ['d'] }, same)
    expect(event).to.deep.include({ arch: '["b","c"]', language: '', timezone: 'd' })
    expect(event.browsers).to.deep.equal(['a'])
    expect(readInstallEvent({ ...BODY, browsers: '' }, same).browsers).to.deep.equal([])
  })

  it('holds what its installer states, cleaned, and where it ran', () => {
    const stated = { product_version: 'v1.4.0', place: 'readme', ci: true, container: true }
    expect(readInstallEvent({ ...BODY, ...stated }, (text) => text.toUpperCase())).to.deep.include({
      productVersion: 'V1.4.0',
      place: 'README',
      isCi: true,
      isContainer: true,
    })
  })

  it('counts a repeated receipt once, in the order they came', () => {
    expect(readInstallEvent({ ...BODY, receipts: ['b', 'a', 'b'] }, same).receipts).to.deep.equal(['b', 'a'])
  })

  it('has every free text cleaned', () => {
    const body = { ...BODY, browsers: ['x', 'y'], arch: 'x', default_browser: 'x', timezone: 'x', language: 'x' }
    const event = readInstallEvent(body, (text) => text.toUpperCase())
    expect([...event.browsers, event.arch, event.defaultBrowser, event.timezone, event.language].join('')).to.equal(
      'XYXXXX',
    )
    expect(event.eventId).to.equal('event-0001')
  })

  describe("'s install path", () => {
    const organizationOfTwo = organizationWith([
      ['first', false],
      ['second', true],
    ])

    it('is the one that was sent if the organisation has it', () => {
      expect(chooseInstallPath(organizationOfTwo, 'second')).to.deep.equal({ installPath: 'second', isPaused: true })
    })

    it('is the first one if it is missing or unknown', () => {
      for (const sent of [null, '', 'third', '__proto__']) {
        expect(chooseInstallPath(organizationOfTwo, sent)).to.deep.equal({ installPath: 'first', isPaused: false })
      }
    })

    it('is the one that the organisation names as its first, although another is older', () => {
      const named = { ...organizationOfTwo, firstInstallPath: 'second' }
      for (const sent of [null, 'third']) {
        expect(chooseInstallPath(named, sent)).to.deep.equal({ installPath: 'second', isPaused: true })
      }
    })

    it('is none if the organisation has none', () => {
      expect(chooseInstallPath(organizationWith([]), 'first')).to.deep.equal({ installPath: null, isPaused: false })
    })

    it('is only counted if it is paused, and always on Free', () => {
      const open = { installPath: 'x', isPaused: false }
      const paused = { installPath: 'x', isPaused: true }
      expect(isOnlyCounted(organizationWith([], 'Free'), open)).to.equal(true)
      expect(isOnlyCounted(organizationWith([], 'Standard'), open)).to.equal(false)
      expect(isOnlyCounted(organizationWith([], 'Enterprise'), paused)).to.equal(true)
    })
  })

  describe("'s answer", () => {
    const event = readInstallEvent(BODY, same)
    const plan = { provider: 'ga4', status: 'pending', sessionMode: 'client_only', reason: '' } as const
    const install = recordInstall({
      catalogNumber: 1,
      website: site,
      reported: { event, installPath: 'cli', agent: 'codex', isTest: false },
      result: resolve({
        nowMs: NOW_MS,
        receipts: [],
        states: new Map(),
        handoff: null,
        policy: 'latest_visit',
        installation: { kind: 'matched', visit: { visitId: 'v', issuedAtMs: NOW_MS - 1, gpc: true } },
      }),
      deliveries: [
        { ...plan, destination: 'one' },
        { ...plan, destination: 'two', status: 'skipped', sessionMode: 'none' },
      ],
      nowMs: NOW_MS,
    })

    it('states the plan of each delivery, the first one for all', () => {
      expect(install.answer).to.deep.equal({
        ok: true,
        event_id: 'event-0001',
        duplicate: false,
        resolution: 'matched',
        candidate_count: 0,
        selection_policy: 'same_installation',
        ga: {
          status: 'pending',
          deliveries: [
            { destination: 'one', status: 'pending', session_mode: 'client_only' },
            { destination: 'two', status: 'skipped', session_mode: 'none' },
          ],
        },
      })
    })

    it('of a pending one is stored with the policy that its decision will follow', () => {
      const given = { nowMs: NOW_MS, receipts: [], states: new Map(), handoff: null } as const
      const result = resolve({ ...given, policy: 'first_visit', installation: { kind: 'undecided' } })
      const pendingOf = (website: Website): Install =>
        recordInstall({
          catalogNumber: 1,
          website,
          reported: { event, installPath: 'cli', agent: null, isTest: false },
          result,
          deliveries: [],
          nowMs: NOW_MS,
        })
      expect(pendingOf({ ...site, selectionPolicy: 'first_visit' }).visitPolicy).to.equal('first_visit')
      expect(pendingOf(site).visitPolicy).to.equal('latest_visit')
    })

    it('is stored with the fact, which names the coding agent that ran the install', () => {
      expect(install.agent).to.equal('codex')
    })

    it('is stored with the fact, which names the visit and its GPC', () => {
      expect(install).to.deep.include({ visitId: 'v', visitIssuedAtMs: NOW_MS - 1, gpc: true, installPath: 'cli' })
    })

    it('differs for a repeat in only one word', () => {
      expect({ ...duplicateAnswer(install.answer), duplicate: false }).to.deep.equal(install.answer)
      expect(duplicateAnswer(install.answer).duplicate).to.equal(true)
    })

    it('says over the quota that nothing was recorded, in the same shape', () => {
      const answer = unrecordedAnswer('event-0001')
      const { recorded, ...shape } = answer
      expect(recorded).to.equal(false)
      const counted = recordInstall({
        catalogNumber: 1,
        website: site,
        reported: { event, installPath: null, agent: null, isTest: false },
        result: COUNTED,
        deliveries: [],
        nowMs: NOW_MS,
      })
      expect(shape).to.deep.equal(counted.answer)
      expect(shape.ga).to.deep.equal({ status: 'not_queued', deliveries: [] })
    })
  })

  it('never throws for a body that has passed the schema', () => {
    const fact = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'binary' })))
    fc.assert(
      fc.property(fact, fact, (one, other) => {
        const event = readInstallEvent({ ...BODY, browsers: one, arch: other, language: one }, same)
        expect(event.arch).to.be.a('string')
        expect(event.browsers).to.be.an('array')
      }),
    )
  })
})
