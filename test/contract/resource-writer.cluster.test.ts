/** The contract over a real kube-apiserver, and what only a cluster has: owners of fields, annotations, labels. */

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { copiedPatch } from '../../dashboard/resources/patch.ts'
import { watchDirectory } from '../../dashboard/resources/cluster-directory.ts'
import { clusterWriter } from '../../dashboard/resources/cluster-writer.ts'
import type { ResourceWriter } from '../../dashboard/resources/writer.ts'
import { clientFor } from '../../runtime/kube/client.ts'
import { readKubeconfig } from '../../runtime/kube/kubeconfig.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { createLogger } from '../../runtime/logger.ts'
import { kubeTools, startKube, type KubeServer } from '../../fixtures/engines/kube.ts'
import { organization, resource } from '../../fixtures/service/manifests.ts'
import { resourceWriterContract, type WriterStage } from './resource-writer.contract.ts'

let server: KubeServer
let writer: ResourceWriter

const at = (name: string) => ({ kind: 'Website', namespace: 'default', name })
const site = (name: string, more: object = {}) => ({
  organizationRef: { name: 'acme' },
  primaryOrigin: `https://${name}.example`,
  ...more,
})

async function start(): Promise<WriterStage | null> {
  const tools = await kubeTools()
  if (tools === null) return null
  server = await startKube(tools)
  await server.installCrds()
  await server.apply([organization('acme', {}, { namespace: 'default' })])
  const client = clientFor(await readKubeconfig(server.kubeconfig), 'whence-dashboard/test')
  const watch = () =>
    watchDirectory({
      watching: {
        client,
        random: Math.random,
        logger: createLogger({ program: 'test', level: 'silent' }),
        metrics: createKubeMetrics(new Registry()),
      },
      place: { namespace: 'shop', name: 'whence' },
      namespaces: ['default'],
      installation: 'default',
      nowMs: Date.now,
    })
  const directory = watch()
  await directory.synced
  const made = new Map<string, number>()
  writer = clusterWriter(client, Date.now, {
    take: async ({ organization, allowed }) => {
      const count = (made.get(organization) ?? 0) + 1
      if (count <= allowed) made.set(organization, count)
      return count <= allowed
    },
    giveBack: async ({ organization }) => void made.set(organization, (made.get(organization) ?? 0) - 1),
  })
  return {
    writer,
    directory,
    inventory: directory.inventory,
    organization: 'acme',
    async startAgain() {
      const another = watch()
      await another.synced
      const ids = [...another.organizations().keys()].flatMap((each) => another.websites(each).map(({ id }) => id))
      await another.close()
      return ids
    },
    async writeElsewhere(kind, name, spec) {
      await server.apply([resource(kind, name, { ...spec }, { namespace: 'default' })], 'argocd-controller')
      return 'argocd-controller'
    },
    async stop() {
      await directory.close()
      client.close()
      await server.stop()
    },
  }
}

const versionOf = async (name: string): Promise<string> => (await writer.read(at(name)))?.version ?? ''
const managersOf = async (name: string): Promise<readonly [string, string][]> => {
  const { metadata } = await server.want(`/apis/whence.dev/v1alpha1/namespaces/default/websites/${name}`)
  return metadata.managedFields.map(({ manager, operation }: { manager: string; operation: string }) => [
    manager,
    operation,
  ])
}

async function sharesAnObject(): Promise<void> {
  const argo = (more: object) =>
    server.apply([resource('Website', 'shared', site('shared', more), { namespace: 'default' })], 'argocd-controller')
  await argo({ displayName: 'Git' })
  const stored = await writer.read(at('shared'))
  const mine = { ...stored?.spec, retentionDays: 60 }
  expect(await writer.replace({ ...at('shared'), spec: mine }, stored?.version ?? '')).to.deep.equal({
    kind: 'written',
  })
  expect(await managersOf('shared')).to.deep.include(['whence-dashboard', 'Apply'])
  expect((await writer.read(at('shared')))?.readOnly.map(({ field }) => field).sort()).to.deep.equal([
    '/spec/displayName',
    '/spec/organizationRef/name',
    '/spec/primaryOrigin',
  ])
  // Git goes on with its own fields and has no conflict, and ours stays.
  await argo({ displayName: 'Git again' })
  expect((await writer.read(at('shared')))?.spec).to.deep.include({ displayName: 'Git again', retentionDays: 60 })
  const refused = await writer.replace(
    { ...at('shared'), spec: { ...mine, displayName: 'Mine' } },
    await versionOf('shared'),
  )
  expect(refused).to.deep.equal({ kind: 'managed_elsewhere', manager: 'argocd-controller', field: '/spec/displayName' })
  const { displayName: _gone, ...without } = { ...mine, displayName: '' }
  expect(await writer.replace({ ...at('shared'), spec: without }, await versionOf('shared'))).to.deep.equal(refused)
}

async function takesOverWhatWasDoneByHand(): Promise<void> {
  await server.kubectl(
    ['apply', '-f', '-'],
    JSON.stringify(resource('Website', 'hand', site('hand', { displayName: 'Hand' }), { namespace: 'default' })),
  )
  const spec = site('hand', { displayName: 'Dashboard' })
  const refused = await writer.replace({ ...at('hand'), spec }, await versionOf('hand'), { mayTakeOver: false })
  expect(refused).to.deep.include({
    kind: 'managed_elsewhere',
    manager: 'kubectl-client-side-apply',
    field: '/spec/displayName',
  })
  expect(await writer.replace({ ...at('hand'), spec }, await versionOf('hand'))).to.deep.equal({ kind: 'written' })
  expect(await writer.replace({ ...at('hand'), spec: site('hand') }, await versionOf('hand'))).to.deep.equal({
    kind: 'written',
  })
  expect((await writer.read(at('hand')))?.spec['displayName']).to.equal(undefined)
}

async function givesAPatchThatApplies(): Promise<void> {
  const stored = await writer.read(at('shared'))
  if (stored === null) throw new Error('it was just written')
  const wanted = { ...stored.spec, displayName: "It's $HOME", pages: [{ id: 'p', url: 'https://shared.example/p' }] }
  const { kubectl, yaml } = copiedPatch(stored, wanted)
  const [, ...words] = shellWords(kubectl)
  await server.kubectl(words)
  expect((await writer.read(at('shared')))?.spec).to.deep.include({ displayName: "It's $HOME", retentionDays: 60 })
  await server.kubectl(
    ['apply', '--server-side', '--force-conflicts', '--field-manager', 'argocd-controller', '-f', '-'],
    yaml,
  )
  expect((await writer.read(at('shared')))?.spec['displayName']).to.equal("It's $HOME")
}

/** As a POSIX shell splits a line that quotes with single quotes alone. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\'/g, (_all, inside: string | undefined) => inside ?? "'"),
  )
}

async function marksSecrets(): Promise<void> {
  await writer.createSecret({
    namespace: 'default',
    name: 's-2',
    values: { k: 'v' },
    tenant: 't-1',
    owner: at('shared'),
  })
  const { metadata, type } = await server.want('/api/v1/namespaces/default/secrets/s-2')
  expect(type).to.equal('whence.dev/dashboard')
  expect(metadata.labels).to.deep.equal({
    'app.kubernetes.io/managed-by': 'whence-dashboard',
    'whence.dev/tenant': 't-1',
  })
  expect(metadata.ownerReferences.map(({ name }: { name: string }) => name)).to.deep.equal(['shared'])
}

resourceWriterContract('a cluster', start, () => {
  it('shares an object with Git, field by field, and applies without force', sharesAnObject)
  it('takes over what a person did by hand, if it may', takesOverWhatWasDoneByHand)
  it('gives a patch for Git that applies cleanly', givesAPatchThatApplies)
  it('marks Secrets with their type and tenant, and lets them go with their owner', marksSecrets)
})
