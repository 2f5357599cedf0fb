/** Who may do what is not read from copies that are behind: what a process of the dashboard answers then, and how it knows. */

import { Registry } from 'prom-client'
import { expect } from 'chai'

import { watchDirectory, type ClusterDirectory } from '../../dashboard/resources/cluster-directory.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { mayBeAnswered } from '../../dashboard/http/route.ts'
import { isOfPass, type RouteRow } from '../../dashboard/api/route.ts'
import { LIMITS } from '../../domain/limits.ts'
import { indexText } from '../../domain/published/index.ts'
import { createRightsMark } from '../../domain/published/rights-mark.ts'
import { rightsAgeAfter } from '../../domain/people/rights-age.ts'
import { sha256Hex } from '../../common/digest.ts'
import { organization, resource, website } from '../../fixtures/service/manifests.ts'
import { until } from '../../fixtures/until.ts'
import { KubeError, type KubeRequest } from '../../runtime/kube/client.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { madeUpApi, type MadeUpApi } from '../operator/support/made-up-api.ts'

const MEMBER = { organizationRef: { name: 'acme' }, email: 'anna@acme.dev', role: 'Owner' }

describe('the age of rights', () => {
  it('is current for five seconds without an answer, late for a minute more, and unknown then', () => {
    const ages = [0, 4_999, 5_000, 64_999, 65_000, Number.POSITIVE_INFINITY].map(rightsAgeAfter)
    expect(ages).to.deep.equal(['current', 'current', 'late', 'late', 'unknown', 'unknown'])
  })

  const answered = (age: Parameters<typeof mayBeAnswered>[1]): readonly string[] =>
    Object.values<RouteRow>(ROUTES)
      .filter((row) => mayBeAnswered(row, age))
      .map(({ method, path }) => `${method} ${path}`)

  it('lets everything be answered while it is current', () => {
    expect(answered('current')).to.have.length(Object.keys(ROUTES).length)
    expect(answered('current')).to.include.members(['GET /v1/figures', 'GET /share/:token/figures'])
  })

  it('lets those who are signed in read a while longer, and anybody sign out, but nobody write or sign in, and no key or link open anything', () => {
    const late = answered('late')
    expect(late).to.include.members(['GET /api/me', 'GET /api/sign-in', 'POST /api/sign-out'])
    expect(late.filter((name) => !name.startsWith('GET '))).to.deep.equal(['POST /api/sign-out'])
    expect(late).not.to.include('GET /api/sign-in/oidc/callback')
    const reads = Object.values<RouteRow>(ROUTES).filter(
      ({ method, needs, rate }) => method === 'GET' && rate !== 'callback' && !isOfPass(needs),
    )
    expect(late.filter((name) => /\/v1\/|\/share\//.test(name))).to.deep.equal([])
    expect(late).to.have.length(reads.length + 1)
  })

  it('lets nobody read who would have to be known, once it is unknown', () => {
    expect(answered('unknown').toSorted()).to.deep.equal(['GET /api/sign-in', 'POST /api/sign-out'])
  })
})

describe('a process of the dashboard in a cluster', () => {
  let api: MadeUpApi
  let directory: ClusterDirectory
  let elapsedMs: number
  /** What the API server answers to a request for the index; null: nothing at all. */
  let answerIndex: (() => object) | null
  let asked: number
  let lists: string[]
  const mark = createRightsMark(sha256Hex)

  const published = (number: number, rights: string) => () => ({
    metadata: { name: 'whence-catalog' },
    data: { 'index.json': indexText({ number, rights, version: 'v', parts: [], credentials: {} }) },
  })
  const marked = (): string => mark(api.objects('Organization', 'Member', 'ApiKey', 'ShareLink'))

  beforeEach(async () => {
    api = madeUpApi()
    ;[elapsedMs, asked, lists] = [0, 0, []]
    api.put('Organization', 'default', organization('acme'))
    api.put('Member', 'default', resource('Member', 'anna', MEMBER))
    answerIndex = published(1, marked())
    const request = async ({ signal }: KubeRequest) => {
      asked += 1
      if (answerIndex !== null) return answerIndex()
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new KubeError(0, 'Aborted', 'no answer')))
      })
    }
    const stream: typeof api.client.stream = (wanted) => {
      if (!wanted.path.includes('watch=true')) lists.push(wanted.path)
      return api.client.stream(wanted)
    }
    directory = watchDirectory(
      {
        watching: {
          client: { ...api.client, request, stream },
          logger: SILENT_LOGGER,
          metrics: createKubeMetrics(new Registry()),
          random: () => 0.5,
        },
        place: { namespace: 'whence', name: 'whence' },
        namespaces: [],
        installation: 'default',
        nowMs: Date.now,
      },
      { elapsedMs: () => elapsedMs, everyMs: 5 },
    )
    await directory.synced
  })
  afterEach(async () => {
    await directory.close()
    api.end()
  })
  const askedAgain = async (): Promise<void> => {
    const before = asked
    await until(() => asked >= before + 2)
  }

  it('is sure of its copies while the index says nothing that they lack, and reads nothing again for that', async () => {
    const before = lists.length
    elapsedMs = 60_000
    await until(() => directory.rightsAge() === 'current')
    expect(directory.catalogNumber()).to.equal(1)
    answerIndex = published(2, marked())
    await until(() => directory.catalogNumber() === 2)
    await askedAgain()
    expect(lists).to.have.length(before)
  })

  it('is not sure any more if the API server does not answer', async () => {
    answerIndex = null
    const before = asked
    await until(() => asked > before)
    elapsedMs += LIMITS.rightsFreshMs
    expect(directory.rightsAge()).to.equal('late')
    elapsedMs += LIMITS.rightsReadMs
    expect(directory.rightsAge()).to.equal('unknown')
    expect(directory.members(), 'what is known stays').to.have.length(1)
  })

  it('misses no key that was revoked while its watch was cut', async () => {
    const spec = { organizationRef: { name: 'acme' }, scopes: ['figures'], keyHash: `sha256:${'0'.repeat(64)}` }
    const expiresAt = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
    api.put('ApiKey', 'default', resource('ApiKey', 'grafana', { ...spec, expiresAt }))
    await until(() => directory.passes().apiKeys.size === 1)
    api.silence()
    api.remove('ApiKey', 'default/grafana')
    expect([...directory.passes().apiKeys.values()].map(({ name }) => name)).to.deep.equal(['grafana'])
    answerIndex = published(2, marked())
    await until(() => directory.passes().apiKeys.size === 0)
  })

  it('misses no link that was revoked while its watch was cut', async () => {
    const expiresAt = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
    const spec = { websiteRef: { name: 'site' }, period: 'Today', expiresAt, tokenHash: `sha256:${'0'.repeat(64)}` }
    api.put('Website', 'default', website('site'))
    api.put('ShareLink', 'default', resource('ShareLink', 'board', spec))
    await until(() => directory.passes().shareLinks.size === 1)
    api.silence()
    api.remove('ShareLink', 'default/board')
    expect([...directory.passes().shareLinks.values()].map(({ name }) => name)).to.deep.equal(['board'])
    answerIndex = published(2, marked())
    await until(() => directory.passes().shareLinks.size === 0)
  })

  it('reads its copies again if the index counts a change that a cut watch has not brought', async () => {
    api.silence()
    api.remove('Member', 'default/anna')
    api.put('Member', 'default', resource('Member', 'bert', { ...MEMBER, email: 'bert@acme.dev' }))
    expect(directory.members().map(({ name }) => name)).to.deep.equal(['anna'])
    answerIndex = published(2, marked())
    elapsedMs += 1_000
    await until(() => directory.members()[0]?.name === 'bert')
    expect(directory.members()).to.have.length(1)
    await until(() => directory.rightsAge() === 'current')
  })

  it('reads them again once, not with every look, if the index is behind what it sees', async () => {
    answerIndex = published(2, 'another')
    await until(() => directory.catalogNumber() === 2)
    await askedAgain()
    const read = lists.length
    await askedAgain()
    await askedAgain()
    expect(lists).to.have.length(read)
    expect(directory.rightsAge()).to.equal('current')
  })
})
