/** What is written of a status, and how often it is written and told while the copy of the cluster lags behind. */

import { expect } from 'chai'

import { sha256Hex } from '../../common/digest.ts'
import { atOnce } from '../../domain/published/steps.ts'
import { createStatuses, type Transition } from '../../operator/apply/statuses.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { pack } from '../../operator/decide/pack.ts'
import { resourceCopy } from '../../operator/gather/copies.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

const KEY = 'Organization/a/acme'
const ACME: KubeObject = {
  metadata: {
    name: 'acme',
    namespace: 'a',
    uid: 'u',
    generation: 1,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { plan: 'Free' },
}

function decided(organization: KubeObject) {
  const none = {
    Website: [],
    InstallPath: [],
    Destination: [],
    LogStream: [],
    Webhook: [],
    Member: [],
    ApiKey: [],
    ShareLink: [],
  }
  const gathered = {
    resources: { Organization: [organization], ...none },
    secrets: [],
    namespaces: [],
    partsInUse: [],
    credentialSlots: 1,
    ownSecrets: new Set<string>(),
    before: null,
    published: [],
    heldNamespaces: new Set<string>(),
    paused: new Set<string>(),
    warnings: () => [],
    nowMs: 0,
    baseUrl: 'https://whence.example',
  }
  return atOnce(decide(gathered, { sha256Hex, pack }, emptyMemory()))
}

/** The statuses of one object, as an API server that counts versions keeps it and as the copy shows it. */
function stageOf(organization: KubeObject) {
  let there = organization
  let copy = organization
  const transitions: Transition[] = []
  let writes = 0
  const statuses = createStatuses({
    writer: {
      applyStatus: async (_kind: unknown, { metadata }: KubeObject, status: object) => {
        writes += 1
        const resourceVersion = String(Number(there.metadata.resourceVersion) + 1)
        there = { ...there, metadata: { ...metadata, resourceVersion }, status }
        return resourceVersion
      },
    },
    current: () => copy,
    onTransition: (transition) => void transitions.push(transition),
    installation: 'default',
    audit: null,
    nowMs: () => 0,
  })
  statuses.review(decided(organization), true)
  return {
    settle: () => statuses.settle(KEY),
    /** The watch delivers what the API server has. */
    catchUp: () => void (copy = there),
    /** Somebody else writes the status. */
    overwrite: (status: object) => {
      const resourceVersion = String(Number(there.metadata.resourceVersion) + 1)
      there = { ...there, metadata: { ...there.metadata, resourceVersion }, status }
    },
    status: () => there['status'],
    told: () => ({ writes, events: transitions.map(({ after }) => `${after.type} ${after.status}`) }),
  }
}

describe('a request to look at an object again', () => {
  const repeatedOf = async (asked: string): Promise<unknown> => {
    const metadata = { ...ACME.metadata, annotations: { 'whence.dev/reconcile-now': asked } }
    const stage = stageOf(resourceCopy({ ...ACME, metadata }, undefined))
    await stage.settle()
    return (stage.status() as Readonly<Record<string, unknown>>)['lastHandledReconcileAt']
  }

  it('is repeated by the status as it is, up to 1,024 characters, and is ignored beyond', async () => {
    for (const chars of [1, 257, 1_024]) expect(await repeatedOf('a'.repeat(chars))).to.equal('a'.repeat(chars))
    expect(await repeatedOf('a'.repeat(1_025))).to.equal(undefined)
  })
})

describe('a status that the copy does not show yet', () => {
  it('is written once, and its event is told once, however often the object is looked at meanwhile', async () => {
    const stage = stageOf(ACME)
    await stage.settle()
    expect(stage.told()).to.deep.equal({ writes: 1, events: ['Ready True'] })
    await stage.settle()
    await stage.settle()
    expect(stage.told()).to.deep.equal({ writes: 1, events: ['Ready True'] })
    stage.catchUp()
    await stage.settle()
    expect(stage.told()).to.deep.equal({ writes: 1, events: ['Ready True'] })
  })

  it('is written again if somebody has overwritten it by the time that the copy shows it', async () => {
    const stage = stageOf(ACME)
    await stage.settle()
    stage.overwrite({ installation: 'default' })
    stage.catchUp()
    await stage.settle()
    expect(stage.told()).to.deep.equal({ writes: 2, events: ['Ready True', 'Ready True'] })
  })
})
