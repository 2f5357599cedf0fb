/** One namespace with very many or very large objects, or Secrets: the operator survives, and other namespaces are not affected. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { atOnce } from '../../domain/published/steps.ts'
import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import { ga4Destination, organization, website } from '../../fixtures/service/manifests.ts'
import { until } from '../../fixtures/until.ts'
import { heldNamespaces } from '../../operator/apply/in-force.ts'
import { pack } from '../../operator/decide/pack.ts'
import { decide, emptyMemory, type Decision } from '../../operator/decide/decide.ts'
import { createRoom } from '../../operator/gather/room.ts'
import { createSecretValues, referredSecrets, withoutUnread } from '../../operator/gather/secrets.ts'
import { watchWorld } from '../../operator/gather/world.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { gatheredFrom, madeUpApi, type MadeUpApi } from './support/made-up-api.ts'

const PLACE = { namespace: 'whence', name: 'whence' }
const PER_ORGANIZATION = 25
const TOOLS = { sha256Hex, pack }
const LONGEST = Array.from({ length: LIMITS.pagesPerWebsite }, (_, page) => {
  const each = LIMITS.pageListChars / LIMITS.pagesPerWebsite - 60
  return { id: `p${page}`, url: `https://long.example/${'x'.repeat(each)}` }
})

interface OpenChoice {
  readonly namespaces?: readonly string[]
  readonly onChange?: () => void
  readonly nowMs?: () => number
}

describe('room for all namespaces', function () {
  this.timeout(60_000)
  let api: MadeUpApi
  let world: ReturnType<typeof watchWorld> | null = null

  beforeEach(() => {
    api = madeUpApi()
  })
  afterEach(async () => {
    api.end()
    await world?.close()
  })

  const open = (bytes: number, { namespaces = [], onChange = () => undefined, nowMs = Date.now }: OpenChoice = {}) => {
    let cuts = 0
    const room = createRoom({ bytes, onCut: () => void (cuts += 1) })
    const opened = watchWorld({
      watching: {
        client: api.client,
        logger: SILENT_LOGGER,
        metrics: createKubeMetrics(new Registry()),
        random: Math.random,
      },
      territory: { place: PLACE, namespaces, installation: 'whence' },
      room,
      news: { onChange, onStatus: () => undefined, onGone: () => undefined },
      nowMs,
    })
    world = opened
    const memory = emptyMemory()
    const secrets = createSecretValues({ client: api.client, watched: opened.secrets, room })
    return {
      world: opened,
      room,
      cuts: () => cuts,
      secrets,
      decide: (more: object = {}) => atOnce(decide({ ...gatheredFrom(opened.resources), ...more }, TOOLS, memory)),
    }
  }
  const fill = (namespace: string, websites: number, spec: object = {}) => {
    for (let number = 0; number < websites; number += 1) {
      const organizationRef = { name: `${namespace}-${Math.floor(number / PER_ORGANIZATION)}` }
      if (number % PER_ORGANIZATION === 0) api.put('Organization', namespace, organization(organizationRef.name))
      api.put('Website', namespace, website(`${namespace}-${number}`, { organizationRef, ...spec }))
    }
  }
  const problemsIn = (namespace: string, { objects }: Decision) =>
    [...objects.values()].filter(({ object }) => object.metadata.namespace === namespace).flatMap((it) => it.problems)

  it('keeps what fits of the largest namespace and everything of the others, and reports the rest as TooLarge', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const ROOM = 20_000_000
    fill('small', 30)
    fill('large', 600, { pages: LONGEST })
    collect()
    const before = process.memoryUsage().heapUsed
    const { world, room, decide, cuts } = open(ROOM)
    await until(() => world.isReady())
    collect()
    const beganWith = process.memoryUsage().heapUsed - before
    expect(beganWith).to.be.lessThan(ROOM)
    const decision = decide()
    expect(problemsIn('small', decision)).to.deep.equal([])
    const large = problemsIn('large', decision)
    expect(new Set(large.map(({ reason }) => reason))).to.deep.equal(new Set(['TooLarge']))
    expect(large[0]?.message).to.match(/share of the operator's memory/)
    expect(decision.websites).to.be.greaterThan(90)
    expect(large).to.have.length(630 - decision.websites)
    expect(room.cut()).to.deep.equal(new Map([['large', large.length]]))
    expect(cuts()).to.be.greaterThan(0)
    // Older ones keep their place.
    expect(decision.objects.get('Website/large/large-0')?.isInForce).to.equal(true)
    expect(decision.objects.get('Website/large/large-599')?.isInForce).to.equal(false)
    collect()
    expect(process.memoryUsage().heapUsed - before).to.be.lessThan(ROOM * 1.25)
  })

  it('cuts what a namespace adds or enlarges while it runs, and keeps what others add', async () => {
    const { world, decide } = open(3_000_000)
    await until(() => world.isReady())
    fill('small', 5)
    fill('large', 40, { pages: LONGEST })
    await until(() => world.resource('Website', 'large', 'large-39') !== undefined)
    const first = decide()
    expect(problemsIn('small', first)).to.deep.equal([])
    const cut = problemsIn('large', first).length
    expect(cut).to.be.greaterThan(20)
    fill('later', 5)
    await until(() => world.resource('Website', 'later', 'later-4') !== undefined)
    expect(problemsIn('later', decide())).to.deep.equal([])
  })

  it('leaves cut what was cut if its status or its spec changes, with the rest of its spec out of memory', async () => {
    const { world, decide } = open(3_000_000)
    fill('large', 40, { pages: LONGEST })
    await until(() => world.isReady() && world.resource('Website', 'large', 'large-39') !== undefined)
    expect(decide().objects.get('Website/large/large-39')?.problems[0]?.reason).to.equal('TooLarge')
    const status = { installation: 'whence', observedGeneration: 1 }
    api.putStatus('Website', 'large/large-39', status)
    const now = () => world.resource('Website', 'large', 'large-39')
    await until(() => now()?.['status'] !== undefined)
    expect(now()?.['status']).to.deep.equal(status)
    expect(now()?.['spec']).to.deep.equal({ organizationRef: { name: 'large-1' } })
    api.put('Website', 'large', website('large-39', { organizationRef: { name: 'large-1' }, pages: LONGEST }))
    await until(() => now()?.metadata.generation === 2)
    expect(decide().objects.get('Website/large/large-39')?.problems[0]?.reason).to.equal('TooLarge')
  })

  it('restores what was cut as soon as it fits', async () => {
    const { world, room, decide } = open(3_000_000)
    fill('large', 40, { pages: LONGEST })
    await until(() => world.isReady() && world.resource('Website', 'large', 'large-39') !== undefined)
    expect(decide().websites).to.be.lessThan(20)
    expect(room.reopen()).to.deep.equal(new Set())
    for (let number = 0; number < 30; number += 1) api.remove('Website', `large/large-${number}`)
    await until(() => world.resource('Website', 'large', 'large-29') === undefined)
    const kinds = room.reopen()
    expect(kinds).to.deep.equal(new Set(['Website']))
    for (const kind of kinds) if (kind !== 'Secret') world.readAgain(kind)
    await until(() => room.cut().size === 0)
    const decision = decide()
    expect([decision.websites, decision.refused]).to.deep.equal([10, 0])
  })

  it('forgets some if there are too many even without their contents, and finds them again', async () => {
    const { world, room, decide } = open(1_000_000)
    fill('small', 5)
    fill('many', 4_000)
    await until(() => world.isReady())
    const kept = world.resources('Website').length
    expect(kept).to.be.within(200, 800)
    expect(room.cut().get('many')).to.be.greaterThan(3_000)
    expect(problemsIn('small', decide())).to.deep.equal([])
    for (let number = 100; number < 4_000; number += 1) api.remove('Website', `many/many-${number}`)
    for (let number = 4; number < 160; number += 1) api.remove('Organization', `many/many-${number}`)
    await until(
      () => world.resource('Website', 'many', 'many-101') === undefined && world.resources('Website').length <= 105,
    )
    await until(() => {
      for (const kind of room.reopen()) if (kind !== 'Secret') world.readAgain(kind)
      return room.cut().size === 0 && world.resources('Website').length === 105
    })
    expect(decide().refused).to.equal(0)
  })

  it('keeps no more of Secrets than the members that are needed, and none longer than credentials may be', async () => {
    const { world, secrets } = open(1_000_000)
    fill('small', 1)
    const own = (name: string, key: string) => ({ ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name, key } } })
    const websiteRef = { name: 'small-0' }
    api.put('Destination', 'small', ga4Destination('one', { websiteRef, ...own('keys', 'ga4') }))
    api.put('Destination', 'small', ga4Destination('two', { websiteRef, ...own('long', 'ga4') }))
    const data = (value: string) => ({ ga4: Buffer.from(value).toString('base64'), other: 'eA=='.repeat(1_000) })
    api.put('Secret', 'small', { metadata: { name: 'keys' }, data: data('right') })
    api.put('Secret', 'small', { metadata: { name: 'long' }, data: data('x'.repeat(900_000)) })
    await until(() => world.isReady())
    const { secrets: read } = await secrets.read(referredSecrets(world.resources('Destination')))
    expect(read.map(({ data: kept }) => Object.keys(kept as object))).to.deep.equal([['ga4'], ['ga4']])
    expect(JSON.stringify(read).length).to.be.lessThan(2 * LIMITS.credentialBytes)
    const decision = atOnce(decide({ ...gatheredFrom(world.resources), secrets: read }, TOOLS, emptyMemory()))
    expect([...decision.inForce.credentials.values()]).to.deep.equal([{ apiSecret: 'right' }])
    expect(problemsIn('small', decision).map(({ reason }) => reason)).to.deep.equal(['TooLarge'])
    // Another member of a Secret that has not changed.
    const more = await secrets.read(new Map([['small/keys', new Set(['ga4', 'other'])]]))
    expect(Object.keys(more.secrets[0]?.['data'] as object)).to.deep.equal(['ga4', 'other'])
  })

  it('keeps nothing of Secrets that nothing refers to, hears no news of them, and finds one as soon as something does', async () => {
    let changes = 0
    const { world, secrets } = open(1_000_000, { onChange: () => void (changes += 1) })
    const value = (text: string) => ({ ga4: Buffer.from(text).toString('base64') })
    for (let number = 0; number < 1_000; number += 1)
      api.put('Secret', 'large', { metadata: { name: `key-${number}` }, data: value('1') })
    await until(() => world.isReady())
    const read = async (...names: readonly string[]) => {
      const { secrets: found } = await secrets.read(new Map(names.map((name) => [`large/${name}`, new Set(['ga4'])])))
      return found.map(({ data }) => Buffer.from(String((data as { ga4: string }).ga4), 'base64').toString())
    }
    expect(await read('key-7', 'late')).to.deep.equal(['1'])
    expect(world.secrets.version('large/key-8')).to.equal(undefined)
    // Each was asked for once.
    expect(await read('key-7', 'late')).to.deep.equal(['1'])
    expect(api.secretReads).to.deep.equal(['large/key-7', 'large/late'])
    changes = 0
    for (let number = 0; number < 1_000; number += 1)
      api.put('Secret', 'large', { metadata: { name: `more-${number}` }, data: value('1') })
    api.put('Secret', 'large', { metadata: { name: 'late' }, data: value('2') })
    await until(() => world.secrets.version('large/late')?.metadata.resourceVersion !== '')
    expect(changes).to.equal(1)
    expect(await read('key-7', 'late')).to.deep.equal(['1', '2'])
    api.put('Secret', 'large', { metadata: { name: 'key-7' }, data: value('3') })
    await until(() => changes === 2)
    expect(await read('key-7', 'late')).to.deep.equal(['3', '2'])
    api.remove('Secret', 'large/late')
    await until(() => changes === 3)
    expect(await read('key-7', 'late')).to.deep.equal(['3'])
    api.put('Secret', 'large', { metadata: { name: 'late' }, data: value('4') })
    await until(() => changes === 4)
    expect(await read('late')).to.deep.equal(['4'])
    api.put('Secret', 'large', { metadata: { name: 'key-7' }, data: value('5') })
    expect(await read('late', 'key-7')).to.have.members(['4', '5'])
  })

  it('reads only so many Secrets of one namespace in one pass that others do not wait, and keeps waiting objects as they were', async () => {
    const { world, secrets, decide: pass } = open(10_000_000)
    const add = (namespace: string, count: number) => {
      fill(namespace, Math.ceil(count / 20))
      for (let number = 0; number < count; number += 1) {
        const apiSecretRef = { name: `key-${number}`, key: 'ga4' }
        const spec = { websiteRef: { name: `${namespace}-${Math.floor(number / 20)}` } }
        const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef }
        api.put('Destination', namespace, ga4Destination(`to-${number}`, { ...spec, ga4 }))
        api.put('Secret', namespace, { metadata: { name: `key-${number}` }, data: { ga4: 'eA==' } })
      }
    }
    add('large', 120)
    add('small', 3)
    await until(() => world.isReady())
    const referred = () => referredSecrets(world.resources('Destination'))
    const read = async () => {
      const { secrets: values, unread, isMore } = await secrets.read(referred())
      const all = gatheredFrom(world.resources)
      const { resources, waiting } = withoutUnread(all.resources, unread)
      return { isMore, waiting, decision: pass({ resources, secrets: values, paused: waiting }) }
    }
    const first = await read()
    expect(api.secretReads.filter((key) => key.startsWith('large/'))).to.have.length(LIMITS.secretReadsPerPass)
    expect(api.secretReads.filter((key) => key.startsWith('small/'))).to.have.length(3)
    expect([first.isMore, first.waiting.size, first.decision.refused]).to.deep.equal([true, 70, 0])
    expect(first.decision.inForce.credentials.size).to.equal(53)
    await read()
    const last = await read()
    expect([last.isMore, last.waiting.size, last.decision.inForce.credentials.size]).to.deep.equal([false, 0, 123])
  })

  it('leaves Secrets out that exceed the share of their namespace, and reports it on objects that refer to them', async () => {
    const { world, secrets, room } = open(1_000_000)
    fill('large', 1)
    for (let number = 0; number < 20; number += 1) {
      const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: `key-${number}`, key: 'ga4' } }
      api.put('Destination', 'large', ga4Destination(`to-${number}`, { websiteRef: { name: 'large-0' }, ga4 }))
      const value = Buffer.from('x'.repeat(LIMITS.credentialBytes)).toString('base64')
      api.put('Secret', 'large', { metadata: { name: `key-${number}` }, data: { ga4: value } })
    }
    await until(() => world.isReady())
    const read = async () => (await secrets.read(referredSecrets(world.resources('Destination')))).secrets
    const decision = atOnce(decide({ ...gatheredFrom(world.resources), secrets: await read() }, TOOLS, emptyMemory()))
    const problems = problemsIn('large', decision)
    expect(new Set(problems.map(({ reason }) => reason))).to.deep.equal(new Set(['TooLarge']))
    expect(problems[0]?.message).to.match(/^spec\.ga4\.apiSecretRef\.name: Secret key-\d+: .*share/)
    expect(decision.inForce.credentials.size + problems.length).to.equal(20)
    expect(decision.inForce.credentials.size).to.be.greaterThan(5)
    const reads = api.secretReads.length
    await read()
    expect(api.secretReads).to.have.length(reads)
    for (let number = 0; number < 15; number += 1) api.remove('Destination', `large/to-${number}`)
    await until(() => world.resources('Destination').length === 5)
    await read()
    expect(room.reopen()).to.deep.equal(new Set(['Secret']))
    secrets.readCutAgain()
    const after = atOnce(decide({ ...gatheredFrom(world.resources), secrets: await read() }, TOOLS, emptyMemory()))
    expect([after.refused, after.inForce.credentials.size]).to.deep.equal([0, 5])
  })

  it('does not wait for a namespace whose lists do not come, and keeps what was in force from it', async () => {
    api.end()
    api = madeUpApi(['/namespaces/large/'])
    fill('small', 1)
    let nowMs = 0
    const { world } = open(1_000_000, { namespaces: ['small', 'large'], nowMs: () => nowMs })
    await until(() => world.namespaceStates().get('small') === 'Seen' && world.resources('Website').length === 1)
    expect(world.isReady()).to.equal(false)
    nowMs = LIMITS.namespacePatienceMs
    await until(() => world.isReady())
    expect(world.namespaceStates().get('large')).to.equal('Late')
    expect(heldNamespaces(world, []).heldNamespaces).to.deep.equal(new Set(['large']))
    expect(world.resources('Website')).to.have.length(1)
  })
})
