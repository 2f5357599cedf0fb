/** What the operator decides without a cluster: shards that make the same catalog, a memory that changes nothing, a fair queue. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { atOnce } from '../../domain/published/steps.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { conditionsOf, sayTheSame } from '../../domain/resources/conditions.ts'
import { pack } from '../../operator/decide/pack.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { createWorkQueue } from '../../operator/work-queue.ts'
import { until } from './support/stage.ts'

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const TOOLS = { sha256Hex, pack }

describe('a decision', () => {
  const gatheredOf = (websites: readonly object[]) => ({
    resources: {
      Organization: [
        {
          metadata: { name: 'acme', namespace: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
          spec: { plan: 'Standard' },
        },
      ],
      Website: websites as never,
      InstallPath: [],
      Destination: [],
      LogStream: [],
      Webhook: [],
      Member: [],
      ApiKey: [],
      ShareLink: [],
    },
    secrets: [],
    namespaces: [],
    partsInUse: [],
    credentialSlots: 4,
    ownSecrets: new Set<string>(),
    before: null,
    published: [],
    heldNamespaces: new Set<string>(),
    paused: new Set<string>(),
    warnings: () => [],
    nowMs: 0,
    baseUrl: 'https://whence.example',
  })
  const site = (name: string, second: number, spec: object = {}) => ({
    metadata: { name, namespace: 'a', creationTimestamp: `2026-01-01T00:00:0${second}Z` },
    spec: { organizationRef: { name: 'acme' }, primaryOrigin: `https://${name}.example`, ...spec },
  })

  it('is the same with and without a memory of earlier ones', () => {
    const memory = emptyMemory()
    const shapes = fc.array(
      fc.record({
        name: fc.constantFrom('b', 'c', 'd', 'e', 'f'),
        second: fc.nat(9),
        retentionDays: fc.integer({ min: 20, max: 40 }),
      }),
      { maxLength: 6 },
    )
    const pool = new Map<string, object>()
    fc.assert(
      fc.property(shapes, (list) => {
        const named = new Map(list.map((item) => [item.name, item]))
        const websites = [...named.values()].map(({ name, second, retentionDays }) => {
          const key = `${name} ${second} ${retentionDays}`
          const object = pool.get(key) ?? site(name, second, { retentionDays })
          pool.set(key, object)
          return object
        })
        const gathered = gatheredOf(websites)
        const warm = atOnce(decide(gathered, TOOLS, memory))
        expect(warm).to.deep.equal(atOnce(decide(gathered, TOOLS, emptyMemory())))
      }),
    )
  })

  it('names the first install path of the organisation in the command of a website, if there is one', () => {
    const commandWith = (installPaths: readonly object[]): unknown => {
      const gathered = gatheredOf([site('p', 0)])
      const resources = { ...gathered.resources, InstallPath: installPaths as never }
      return atOnce(decide({ ...gathered, resources }, TOOLS, emptyMemory())).objects.get('Website/a/p')?.fields[
        'hookCommand'
      ]
    }
    const path = (name: string, second: number) => ({
      metadata: { name, namespace: 'a', creationTimestamp: `2026-01-01T00:00:0${second}Z` },
      spec: { organizationRef: { name: 'acme' } },
    })
    const command = (where: string): string =>
      `curl -fsSL --connect-timeout 3 --max-time 5 https://whence.example/v1/projects/p${where}/report.sh | sh -s -- install_completed || :`
    expect(commandWith([])).to.equal(command(''))
    expect(commandWith([path('cli', 1)])).to.equal(command('/paths/cli'))
  })

  it('gives an expired invitation no place, also where a destination has no room', () => {
    const expiresAt = '2026-01-08T00:00:00Z'
    const member = (name: string, spec: object) => ({
      metadata: { name, namespace: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { organizationRef: { name: 'acme' }, email: `${name}@acme.example`, role: 'Owner', ...spec },
    })
    const others = Array.from({ length: PLAN_LIMITS.Standard.members }, (_, index) => member(`m${index}`, {}))
    const Member = [member('invited', { invitation: { id: 'a'.repeat(32), expiresAt } }), ...others]
    const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' } }
    const Destination = [
      { metadata: { name: 'out', namespace: 'a' }, spec: { websiteRef: { name: 'p' }, provider: 'ga4', ga4 } },
    ]
    const { resources, ...gathered } = gatheredOf([site('p', 0)])
    const { objects } = atOnce(
      decide(
        {
          ...gathered,
          resources: { ...resources, Member, Destination },
          secrets: [{ metadata: { name: 'keys', namespace: 'a' }, data: { ga4: 'dG9rZW4=' } }],
          credentialSlots: 0,
          nowMs: Date.parse(expiresAt),
        },
        TOOLS,
        emptyMemory(),
      ),
    )
    const reasonsOf = (key: string) => objects.get(key)?.problems.map(({ reason }) => reason)
    expect(reasonsOf('Destination/a/out')).to.deep.equal(['TooLarge'])
    for (const { metadata } of Member) expect(reasonsOf(`Member/a/${metadata.name}`), metadata.name).to.deep.equal([])
  })

  it('lets the older websites keep their place, in whatever order they were gathered', () => {
    const websites = ['p', 'q', 'r', 's'].map((name, index) => site(name, index))
    fc.assert(
      fc.property(fc.shuffledSubarray(websites, { minLength: 4 }), (shuffled) => {
        const { objects } = atOnce(decide(gatheredOf(shuffled), TOOLS, emptyMemory()))
        expect(objects.get('Website/a/s')?.problems.map(({ reason }) => reason)).to.deep.equal(['PlanLimit'])
        expect(objects.get('Website/a/p')?.fields).to.include({ id: 'p' })
      }),
    )
  })
})

describe('conditions', () => {
  const common = { kind: 'Website', generation: 2, problems: [], isPublished: true, previous: [] } as const

  it('keep the time of their last transition while their status stays', () => {
    const first = conditionsOf({ ...common, now: '2026-01-01T00:00:00Z' })
    const second = conditionsOf({ ...common, generation: 3, previous: first, now: '2026-02-01T00:00:00Z' })
    expect(second.every(({ lastTransitionTime }) => lastTransitionTime === '2026-01-01T00:00:00Z')).to.equal(true)
    expect(sayTheSame(first, second)).to.equal(false)
    expect(sayTheSame(second, conditionsOf({ ...common, generation: 3, now: '2026-03-01T00:00:00Z' }))).to.equal(true)
  })

  it('stay true beside a warning', () => {
    const problem = {
      object: '',
      source: '',
      field: '',
      reason: 'UnknownField',
      message: 'later',
      isWarning: true,
    } as const
    const told = conditionsOf({ ...common, problems: [problem], now: '' })
    expect(told.map(({ type, status }) => `${type} ${status}`).slice(3)).to.deep.equal(['Ready True', 'Warning True'])
    expect(told[4]).to.include({ reason: 'UnknownField', message: 'later' })
  })

  it('report by Reconciling that a catalog is being published, and that only a change helps by Stalled', () => {
    const told = (list: ReturnType<typeof conditionsOf>) =>
      Object.fromEntries(list.slice(3).map(({ type, status, reason }) => [type, `${status} ${reason}`]))
    const waiting = conditionsOf({ ...common, isPublished: false, now: '' })
    expect(told(waiting)).to.deep.equal({ Ready: 'False CatalogNotPublished', Reconciling: 'True CatalogNotPublished' })
    const problem = { object: '', source: '', field: '/spec/id', reason: 'IdTaken', message: 'taken' }
    const refused = conditionsOf({ ...common, problems: [problem], previous: waiting, now: '' })
    expect(told(refused)).to.deep.equal({ Ready: 'False IdTaken', Stalled: 'True IdTaken' })
    const ready = conditionsOf({ ...common, previous: refused, now: '' })
    expect(told(ready)).to.deep.equal({ Ready: 'True Ready' })
    expect(sayTheSame(ready, refused)).to.equal(false)
  })
})

describe('the work queue', () => {
  it('works on a key once at a time, again if requested meanwhile, and retries failures', async () => {
    const log: string[] = []
    let running = 0
    let most = 0
    const gate = Promise.withResolvers<void>()
    const queue = createWorkQueue({
      handle: async (key) => {
        running += 1
        most = Math.max(most, running)
        log.push(key)
        if (log.length === 1) await gate.promise
        running -= 1
        if (key === 'flaky' && log.filter((each) => each === 'flaky').length < 3) throw new Error('not yet')
      },
      concurrency: 1,
      rules: { ownerOf: () => '', leastDelayMs: () => 0, slowMs: 1_000 },
      random: () => 0,
      onFailure: () => undefined,
    })
    queue.put('held', 'now')
    for (const key of ['later-1', 'later-2', 'flaky']) queue.put(key, 'later')
    queue.put('held', 'later')
    queue.put('urgent', 'now')
    queue.put('later-2', 'now')
    gate.resolve()
    await until('all is done', () => queue.depth() === 0)
    expect(most).to.equal(1)
    expect(log.slice(0, 4)).to.deep.equal(['held', 'urgent', 'later-2', 'later-1'])
    expect(log.filter((key) => key === 'held')).to.have.length(2)
    expect(log.filter((key) => key === 'flaky')).to.have.length(3)
    await queue.close()
  })

  it('takes turns between namespaces, so that a thousand keys of one do not delay the next one', async () => {
    const log: string[] = []
    const gate = Promise.withResolvers<void>()
    const queue = createWorkQueue({
      handle: async (key) => {
        if (key === 'gate') await gate.promise
        else log.push(key)
      },
      concurrency: 1,
      rules: { ownerOf: (key) => key.split('/')[0] ?? '', leastDelayMs: () => 0, slowMs: 1_000 },
      random: () => 0,
      onFailure: () => undefined,
    })
    queue.put('gate', 'now')
    for (let number = 0; number < 1_000; number += 1) queue.put(`large/${number}`, 'now')
    for (const key of ['small/a', 'small/b', 'other/a', 'small/a']) queue.put(key, 'now')
    expect(queue.depth()).to.equal(1_004)
    gate.resolve()
    await until('all is done', () => queue.depth() === 0)
    expect(log.slice(0, 7)).to.deep.equal(['large/0', 'small/a', 'other/a', 'large/1', 'small/b', 'large/2', 'large/3'])
    expect(log).to.have.length(1_003)
    await queue.close()
  })
})
