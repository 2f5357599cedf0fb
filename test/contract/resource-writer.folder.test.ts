/** The contract over a folder, and what only a folder has: files that others write, and a catalog that may be held back. */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { folderDirectory } from '../../dashboard/resources/folder-directory.ts'
import { folderInventory } from '../../dashboard/resources/folder-inventory.ts'
import { folderWriter } from '../../dashboard/resources/folder-writer.ts'
import type { ResourceWriter, StoredObject } from '../../dashboard/resources/writer.ts'
import { openCatalogFolder, type FolderCatalog } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'
import { organization, resource } from '../../fixtures/service/manifests.ts'
import { resourceWriterContract, type WriterStage } from './resource-writer.contract.ts'

const logger = createLogger({ program: 'test', level: 'silent' })
const WRITTEN = { kind: 'written' }

let folder: string
let written: string
let catalog: FolderCatalog
let writer: ResourceWriter
let clockMs: number | null = null
const nowMs = (): number => clockMs ?? Date.now()

async function start(): Promise<WriterStage> {
  const root = await mkdtemp(join(tmpdir(), 'whence-writer-'))
  folder = join(root, 'manifests')
  written = join(root, 'written')
  await mkdir(folder)
  await writeFile(join(folder, 'acme.yaml'), JSON.stringify(organization('acme')))
  catalog = await openCatalogFolder({ folder, written, env: {}, logger, nowMs })
  const { refresh, repairs } = catalog
  writer = folderWriter({ folder, written, env: {}, catalog: { refresh, repairs }, nowMs })
  return {
    writer,
    inventory: folderInventory(catalog, nowMs),
    directory: folderDirectory(catalog),
    async startAgain() {
      const another = await openCatalogFolder({ folder, written, env: {}, logger, nowMs })
      await another.close()
      return [...another.current().websites.keys()]
    },
    organization: 'acme',
    async writeElsewhere(kind, name, spec) {
      await elsewhere(`${name}.yaml`, resource(kind, name, { ...spec }))
      return `${name}.yaml`
    },
    async stop() {
      await catalog.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Null: the file is emptied. */
async function elsewhere(file: string, object: object | null): Promise<void> {
  await writeFile(join(folder, file), object === null ? '# nothing\n' : JSON.stringify(object))
  await catalog.refresh()
}

const at = (kind: string, name: string) => ({ kind, namespace: 'default', name })
const of = (name: string) => ({ organizationRef: { name } })
const site = (name: string, more: object = {}) => ({ ...of('acme'), primaryOrigin: `https://${name}.example`, ...more })
const websites = (): readonly string[] => [...catalog.current().websites.keys()]
const members = (): readonly string[] => catalog.members().map(({ name }) => name)

async function stored(kind: string, name: string): Promise<StoredObject> {
  const found = await writer.read(at(kind, name))
  if (found === null) throw new Error(`${name} is not stored`)
  return found
}

async function make(kind: string, name: string, spec: object): Promise<void> {
  expect(await writer.create({ ...at(kind, name), spec: { ...spec } }), name).to.deep.equal(WRITTEN)
}

async function drop(kind: string, name: string): Promise<void> {
  expect(await writer.remove(at(kind, name), (await stored(kind, name)).version), name).to.deep.equal(WRITTEN)
}

async function refusesWhatAFileOfOthersNeeds(): Promise<void> {
  await elsewhere('theirs.yaml', organization('theirs'))
  await make('InstallPath', 'needed', of('theirs'))
  await make('InstallPath', 'spare', of('theirs'))
  await elsewhere('theirs.yaml', organization('theirs', { defaultInstallPath: 'needed' }))
  const needed = {
    kind: 'managed_elsewhere',
    manager: 'theirs.yaml',
    field: '/spec/defaultInstallPath',
    dependant: {
      object: 'Organization/theirs',
      message: 'spec.defaultInstallPath: the organisation has no install path needed',
    },
  }
  const { spec, version } = await stored('InstallPath', 'needed')
  for (const isDryRun of [true, false]) {
    expect(await writer.remove(at('InstallPath', 'needed'), version, { isDryRun })).to.deep.equal(needed)
    const renamed = { ...at('InstallPath', 'needed'), spec: { ...spec, id: 'renamed' } }
    expect(await writer.replace(renamed, version, { isDryRun })).to.deep.equal(needed)
  }
  expect(await stored('InstallPath', 'needed')).to.deep.include({ spec, version })
  expect(catalog.problems().filter(({ object }) => object.endsWith('theirs'))).to.deep.equal([])
  await elsewhere('theirs.yaml', organization('theirs', { defaultInstallPath: 'spare' }))
  await drop('InstallPath', 'needed')
  await elsewhere('theirs.yaml', organization('theirs'))
  await drop('InstallPath', 'spare')
}

async function promisesNothingWhileHeldBack(): Promise<void> {
  await make('Organization', 'held', { plan: 'Enterprise', billing: { customer: 'cus_1' } })
  await make('Member', 'rogue', { ...of('held'), email: 'rogue@acme.dev', role: 'Admin' })
  await make('Website', 'before', site('before'))
  const rogue = await stored('Member', 'rogue')
  const files = await readdir(written)
  await elsewhere('broken.yaml', resource('Website', 'broken', site('broken', { retentionDays: 12 })))
  const writes: readonly (() => Promise<unknown>)[] = [
    () => writer.remove(at('Member', 'rogue'), rogue.version),
    () => writer.remove(at('Member', 'rogue'), rogue.version, { isDryRun: true }),
    () => writer.replace({ ...at('Member', 'rogue'), spec: { ...rogue.spec, role: 'Viewer' } }, rogue.version),
    () => writer.create({ ...at('Website', 'later'), spec: site('later') }),
  ]
  for (const write of writes) expect(await nameOfError(write)).to.equal('ResourcesUnavailable')
  expect(await readdir(written)).to.deep.equal(files)
  // A plan ends all the same, and takes effect with everything else.
  const free = { plan: 'Free', billing: { customer: 'cus_1' } } as const
  expect(await writer.writeBilling(await stored('Organization', 'held'), free)).to.deep.equal(WRITTEN)
  await elsewhere('broken.yaml', null)
  expect(catalog.current().organizations.get('held')?.plan).to.equal('Free')
  expect(members()).to.include('rogue')
  await drop('Member', 'rogue')
  expect(members()).to.not.include('rogue')
  await drop('Website', 'before')
  await drop('Organization', 'held')
}

async function repairsWhileHeldBack(): Promise<void> {
  const boss = { ...of('acme'), email: 'boss@acme.dev', role: 'Owner' }
  await make('Member', 'second', { ...of('acme'), email: 'second@acme.dev', role: 'Admin' })
  const ways: readonly [string, string | Uint8Array][] = [
    ['a field', JSON.stringify(resource('Website', 'broken', site('broken', { retentionDays: 12 })))],
    ['YAML', 'kind: [Website'],
    ['a reference', JSON.stringify(resource('Website', 'broken', { ...site('broken'), ...of('nowhere') }))],
    ['bytes', new Uint8Array([0xff, 0xfe, 0x00])],
  ]
  for (const [what, text] of ways) {
    await writeFile(join(folder, 'broken.yaml'), text)
    await catalog.refresh()
    const ordinary = () => writer.create({ ...at('Member', 'boss'), spec: boss })
    expect(await nameOfError(ordinary), what).to.equal('ResourcesUnavailable')
    expect(await writer.create({ ...at('Member', 'boss'), spec: boss }, { isRepair: true }), what).to.deep.equal(
      WRITTEN,
    )
    expect(catalog.members().find(({ name }) => name === 'boss')?.role, what).to.equal('Owner')
    const second = await writer.read(at('Member', 'second'), { isRepair: true })
    const promoted = { ...at('Member', 'second'), spec: { ...second?.spec, role: 'Owner' } }
    expect(await writer.replace(promoted, second?.version ?? '', { isRepair: true }), what).to.deep.equal(WRITTEN)
    expect(catalog.members().find(({ name }) => name === 'second')?.role, what).to.equal('Owner')
    expect(websites(), what).to.not.include('broken')
    await elsewhere('broken.yaml', null)
    expect(members(), 'what was repaired stays').to.include.members(['boss', 'second'])
    await drop('Member', 'boss')
    const { spec, version } = await stored('Member', 'second')
    await writer.replace({ ...at('Member', 'second'), spec: { ...spec, role: 'Admin' } }, version)
  }
  await drop('Member', 'second')
}

/** Breaks a file of others between what the writer reads and what then takes effect. */
async function neverSaysWrittenWithoutEffect(): Promise<void> {
  const broken = resource('Website', 'broken', site('broken', { retentionDays: 12 }))
  const parts = { folder, written, env: {}, nowMs }
  const beaten = folderWriter({
    ...parts,
    catalog: {
      async refresh() {
        await writeFile(join(folder, 'broken.yaml'), JSON.stringify(broken))
        return catalog.refresh()
      },
    },
  })
  const write = () => beaten.create({ ...at('Website', 'beaten'), spec: site('beaten') })
  expect(await nameOfError(write)).to.equal('ResourcesUnavailable')
  await elsewhere('broken.yaml', null)
  await drop('Website', 'beaten')
  await rm(join(folder, 'broken.yaml'))
  const unreadable = folderWriter({ ...parts, folder: join(folder, 'nowhere'), catalog: { refresh: catalog.refresh } })
  expect(await nameOfError(() => unreadable.read(at('Website', 'any')))).to.equal('ResourcesUnavailable')
}

async function nameOfError(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    (outcome) => JSON.stringify(outcome),
    (error: unknown) => (error as Error).name,
  )
}

async function takesEffectWithTheAnswer(): Promise<void> {
  await make('Member', 'm', { ...of('acme'), email: 'm@acme.dev', role: 'Admin' })
  expect(members()).to.include('m')
  const { spec, version } = await stored('Member', 'm')
  await writer.replace({ ...at('Member', 'm'), spec: { ...spec, role: 'Viewer' } }, version)
  expect(catalog.members().find(({ name }) => name === 'm')?.role).to.equal('Viewer')
  await drop('Member', 'm')
  expect(members()).to.not.include('m')
  expect((await readdir(written)).filter((file) => file.includes('-member-default-m.'))).to.deep.equal([])
}

/** Two of one time, and one after the clock was set back. */
async function makesTheYoungest(): Promise<void> {
  await make('Organization', 'small', { plan: 'Standard' })
  const last = Date.now() + 1_000
  for (const [name, ms] of [
    ['z', last],
    ['a', last],
    ['m', last - 60_000],
  ] as const) {
    clockMs = ms
    await make('Website', name, site(name, of('small')))
  }
  clockMs = null
  const downgraded = { plan: 'Free', billing: { customer: 'cus_1' } } as const
  await writer.writeBilling(await stored('Organization', 'small'), downgraded)
  expect(websites().filter((id) => ['z', 'a', 'm'].includes(id))).to.deep.equal(['z'])
  for (const name of ['z', 'a', 'm']) await drop('Website', name)
  await drop('Organization', 'small')
}

async function keepsClaims(): Promise<void> {
  for (const tenant of ['t-1', 't-2']) {
    await make('Organization', tenant, { plan: 'Enterprise', tenant })
    await make('Website', `${tenant}-site`, site(tenant, { ...of(tenant), tenant, id: `id-${tenant}` }))
  }
  const { spec, version } = await stored('Website', 't-1-site')
  const change = (fields: object) =>
    writer.replace({ ...at('Website', 't-1-site'), spec: { ...spec, ...fields } }, version)
  // It is the older one, and would win.
  expect(await change({ primaryOrigin: 'https://t-2.example' })).to.deep.include({
    kind: 'refused',
    reason: 'OriginTaken',
    field: '/spec/primaryOrigin',
  })
  expect(await change({ id: 'id-t-2' })).to.deep.include({ kind: 'refused', reason: 'IdTaken', field: '/spec/id' })
  expect(await change({ displayName: 'First' })).to.deep.equal(WRITTEN)
  expect(websites()).to.include.members(['id-t-1', 'id-t-2'])
  for (const tenant of ['t-1', 't-2']) {
    await drop('Website', `${tenant}-site`)
    await drop('Organization', tenant)
  }
}

async function showsTheOlderOfTwo(): Promise<void> {
  await make('Website', 'twice', site('twice'))
  await elsewhere('twice.yaml', resource('Website', 'twice', site('twice', { displayName: 'By hand' })))
  const shown = folderInventory(catalog, nowMs)
    .list('Website', 'acme')
    .filter(({ name }) => name === 'twice')
  expect(shown.map(({ origin }) => origin.manager)).to.deep.equal(['twice.yaml'])
  expect(shown[0]?.conditions.find(({ type }) => type === 'Ready')?.status).to.equal('True')
  expect((await stored('Website', 'twice')).managedBy).to.equal('twice.yaml')
  await elsewhere('twice.yaml', null)
  await drop('Website', 'twice')
}

resourceWriterContract('a folder', start, () => {
  it(
    'refuses, in a dry run too, what a file of somebody else needs, and names the object there',
    refusesWhatAFileOfOthersNeeds,
  )
  it('writes nothing while a file of somebody else is refused, except that a plan ends', promisesNothingWhileHeldBack)
  it('repairs at once while a file of somebody else is refused or cannot be read', repairsWhileHeldBack)
  it('never says that something is written which did not take effect', neverSaysWrittenWithoutEffect)
  it('has taken a right away, and every other effect, when it says so', takesEffectWithTheAnswer)
  it('makes a new object the youngest, whatever the clock says', makesTheYoungest)
  it('lets nobody take an origin or an ID by an older object', keepsClaims)
  it('shows the older of two objects with one name, as it is in force', showsTheOlderOfTwo)
})
