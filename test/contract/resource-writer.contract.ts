/** What every ResourceWriter promises, in a folder or in a cluster. */

import { expect } from 'chai'

import type { Directory } from '../../dashboard/resources/directory.ts'
import type { Inventory } from '../../dashboard/resources/inventory.ts'
import type { ResourceWriter, StoredObject, WriteOutcome } from '../../dashboard/resources/writer.ts'
import { until } from '../../fixtures/until.ts'

export interface WriterStage {
  readonly writer: ResourceWriter
  readonly inventory: Inventory
  readonly directory: Directory
  /** IDs of the websites in force, as a process sees them that starts now. */
  readonly startAgain: () => Promise<readonly string[]>
  /** ID of the organisation `acme` in the namespace `default`, whose plan is Enterprise. */
  readonly organization: string
  /** Writes an object as Git or another tool does, and gives the name that it is then known by. */
  readonly writeElsewhere: (kind: string, name: string, spec: object) => Promise<string>
  readonly stop: () => Promise<void>
}

const at = (name: string, kind = 'Website') => ({ kind, namespace: 'default', name })
const site = (name: string, more: object = {}) => ({
  organizationRef: { name: 'acme' },
  primaryOrigin: `https://${name}.example`,
  ...more,
})
const WRITTEN = { kind: 'written' }
const count = (outcomes: readonly WriteOutcome[], kind: string): number =>
  outcomes.filter((outcome) => outcome.kind === kind).length

/** `more` adds tests of what only this one has, on the same stage. */
export function resourceWriterContract(
  name: string,
  start: () => Promise<WriterStage | null>,
  more: () => void = () => undefined,
): void {
  describe(`the resource writer: ${name}`, function () {
    this.timeout(60_000)
    let stage: WriterStage
    before(async function () {
      this.timeout(1_300_000)
      const started = await start()
      if (started === null) return this.skip()
      stage = started
    })
    after(() => stage?.stop())

    const versionOf = async (object: string, kind?: string): Promise<string> =>
      (await stage.writer.read(at(object, kind)))?.version ?? ''

    it('creates, changes and removes, each with a version of its own, and the inventory follows', async () => {
      const { writer, inventory, organization } = stage
      expect(await writer.create({ ...at('one'), spec: site('one') })).to.deep.equal(WRITTEN)
      await until(() => inventory.find(at('one')) !== null)
      expect(inventory.organizationOf(at('one'))).to.equal(organization)
      expect(inventory.list('Website', organization).map((each) => each.name)).to.include('one')
      expect(inventory.find(at('one'))?.origin.by).to.equal('dashboard')
      const first = await versionOf('one')
      expect(inventory.find(at('one'))?.version).to.equal(first)
      expect(await writer.replace({ ...at('one'), spec: site('one', { displayName: 'One' }) }, first)).to.deep.equal(
        WRITTEN,
      )
      const second = await versionOf('one')
      expect(second).to.not.equal(first)
      await until(() => inventory.find(at('one'))?.spec['displayName'] === 'One')
      expect(await writer.remove(at('one'), second)).to.deep.equal(WRITTEN)
      expect(await writer.read(at('one'))).to.equal(null)
      await until(() => inventory.find(at('one')) === null)
    })

    it('takes fields away that are no longer wanted', async () => {
      const { writer } = stage
      await writer.create({
        ...at('less'),
        spec: site('less', { displayName: 'Less', additionalDomains: ['https://a.less.example'] }),
      })
      await writer.replace({ ...at('less'), spec: site('less', { displayName: 'Less' }) }, await versionOf('less'))
      await writer.replace({ ...at('less'), spec: site('less') }, await versionOf('less'))
      const { spec = {} } = (await writer.read(at('less'))) ?? {}
      expect([spec['displayName'], spec['additionalDomains'] ?? []]).to.deep.equal([undefined, []])
      await writer.remove(at('less'), await versionOf('less'))
    })

    it('writes one of many at once, and nothing that was not seen', async () => {
      const { writer } = stage
      const made = await Promise.all(
        Array.from({ length: 10 }, () => writer.create({ ...at('race'), spec: site('race') })),
      )
      expect([count(made, 'written'), count(made, 'conflict')]).to.deep.equal([1, 9])
      const version = await versionOf('race')
      const changed = await Promise.all(
        Array.from({ length: 10 }, (_, number) =>
          writer.replace({ ...at('race'), spec: site('race', { displayName: `N${number}` }) }, version),
        ),
      )
      expect([count(changed, 'written'), count(changed, 'conflict')]).to.deep.equal([1, 9])
      expect(await writer.remove(at('race'), version)).to.deep.equal({ kind: 'conflict' })
      const last = await versionOf('race')
      const removed = await Promise.all(Array.from({ length: 5 }, () => writer.remove(at('race'), last)))
      expect(count(removed, 'written')).to.equal(1)
      expect(await writer.replace({ ...at('race'), spec: site('race') }, last)).to.deep.equal({ kind: 'conflict' })
    })

    it('writes at most one of changes at once that rely on the objects of each other', async () => {
      const { writer } = stage
      const read = async (object: string): Promise<StoredObject> => {
        const found = await writer.read(at(object))
        if (found === null) throw new Error(`${object} is not stored`)
        return found
      }
      const names = ['left', 'middle', 'right']
      for (let round = 0; round < 5; round += 1) {
        for (const each of names) await writer.create({ ...at(each), spec: site(each) })
        const objects = await Promise.all(names.map(read))
        const outcomes = await Promise.all(
          objects.map(({ spec, version, ...ref }, place) => {
            const reliesOn = objects[(place + 1) % objects.length] as StoredObject
            return place === round % objects.length
              ? writer.replace({ ...ref, spec: { ...spec, retentionDays: 60 } }, version, { reliesOn })
              : writer.remove(ref, version, { reliesOn })
          }),
        )
        expect(
          outcomes.every(({ kind }) => kind === 'written'),
          'all of a ring',
        ).to.equal(false)
        for (const each of names)
          if ((await writer.read(at(each))) !== null) await writer.remove(at(each), await versionOf(each))
      }
      for (const each of names) await writer.create({ ...at(each), spec: site(each) })
      const [gone, changed, last] = (await Promise.all(names.map(read))) as [StoredObject, StoredObject, StoredObject]
      expect(await writer.remove(gone, gone.version, { reliesOn: changed })).to.deep.equal(WRITTEN)
      expect(await writer.remove(last, last.version, { reliesOn: gone })).to.deep.equal({ kind: 'conflict' })
      const spec = { ...changed.spec, retentionDays: 60 }
      expect(await writer.replace({ ...changed, spec }, changed.version, { reliesOn: last })).to.deep.equal(WRITTEN)
      expect(await writer.remove(last, last.version, { reliesOn: changed }), 'as it was').to.deep.equal({
        kind: 'conflict',
      })
      for (const each of ['middle', 'right']) await writer.remove(at(each), await versionOf(each))
    })

    it('fills defaults in without writing, if it is asked to', async () => {
      const { writer } = stage
      const fits = await writer.create({ ...at('dry'), spec: site('dry') }, { isDryRun: true })
      expect(fits).to.deep.include({ kind: 'fits' })
      expect(JSON.stringify(fits)).to.include('"retentionDays":395').and.include('"scan":"Notice"')
      expect(await writer.read(at('dry'))).to.equal(null)
      await writer.create({ ...at('dry'), spec: site('dry') })
      const version = await versionOf('dry')
      const changed = await writer.replace({ ...at('dry'), spec: site('dry', { retentionDays: 30 }) }, version, {
        isDryRun: true,
      })
      expect(JSON.stringify(changed)).to.include('"retentionDays":30')
      expect(await writer.remove(at('dry'), version, { isDryRun: true })).to.deep.equal(WRITTEN)
      expect(await versionOf('dry')).to.equal(version)
      await writer.remove(at('dry'), version)
    })

    it('says which field is wrong, and stores nothing of it', async () => {
      const { writer } = stage
      const outcome = await writer.create({ ...at('wrong'), spec: site('wrong', { retentionDays: 3 }) })
      expect(outcome).to.deep.include({ kind: 'refused', field: '/spec/retentionDays' })
      expect(await writer.read(at('wrong'))).to.equal(null)
      const pages = [{ id: 'p', url: 'ftp://x' }]
      const inList = await writer.create({ ...at('wrong'), spec: site('wrong', { pages }) }, { isDryRun: true })
      expect(inList.kind === 'refused' && inList.field).to.match(/^\/spec\/pages\/0/)
    })

    it('leaves what is managed elsewhere, and says whose it is', async () => {
      const { writer, inventory } = stage
      const place = at('theirs')
      const manager = await stage.writeElsewhere('Website', 'theirs', site('theirs', { displayName: 'Theirs' }))
      await until(() => inventory.find(place) !== null)
      expect(inventory.find(place)?.origin).to.deep.equal({ by: 'gitops', manager })
      const stored = (await writer.read(place)) as StoredObject
      expect(stored.managedBy).to.equal(manager)
      const isTheirs = (each: StoredObject['readOnly'][number]) => each.manager === manager
      expect(stored.readOnly.every((each) => isTheirs(each) && each.field.startsWith('/spec'))).to.equal(true)
      const wanted = { ...place, spec: { ...stored.spec, displayName: 'Mine' } }
      const refused = { kind: 'managed_elsewhere', manager, field: '/spec/displayName' }
      expect(await writer.replace(wanted, stored.version)).to.deep.equal(refused)
      expect(await writer.replace(wanted, stored.version, { isDryRun: true })).to.deep.equal(refused)
      expect(await writer.remove(place, stored.version)).to.deep.equal({ ...refused, field: '' })
      expect((await writer.read(place))?.spec).to.deep.equal(stored.spec)
    })

    it('signs exactly the spec that is stored, for this object alone', async () => {
      const { writer } = stage
      const signed: [string, object][] = []
      const sign = (subject: string, spec: object): string => {
        signed.push([subject, spec])
        return 'signature'
      }
      await writer.create({ ...at('signed'), spec: site('signed') }, { sign })
      await writer.replace({ ...at('signed'), spec: site('signed', { displayName: 'S' }) }, await versionOf('signed'), {
        sign,
      })
      expect(signed).to.have.length(2)
      expect(signed[0]?.[0]).to.equal('Website/default/signed')
      expect(signed[1]?.[1]).to.deep.include({ displayName: 'S', retentionDays: 395 })
      await writer.remove(at('signed'), await versionOf('signed'))
    })

    const stored = async (object: string, kind?: string): Promise<StoredObject> => {
      const found = await stage.writer.read(at(object, kind))
      if (found === null) throw new Error(`${object} is not stored`)
      return found
    }
    const make = async (kind: string, object: string, spec: object): Promise<void> => {
      expect(await stage.writer.create({ ...at(object, kind), spec: { ...spec } }), object).to.deep.equal(WRITTEN)
    }
    const change = async (kind: string, object: string, fields: object): Promise<WriteOutcome> => {
      const { spec, version } = await stored(object, kind)
      return stage.writer.replace({ ...at(object, kind), spec: { ...spec, ...fields } }, version)
    }
    const drop = async (object: string, kind?: string): Promise<WriteOutcome> =>
      stage.writer.remove(at(object, kind), await versionOf(object, kind))
    const inForce = (organization: string): readonly string[] =>
      stage.directory.websites(organization).map(({ id }) => id)
    const leftOutWithout = (object: string, kind: string): readonly string[] =>
      stage.inventory.judge({ ...at(object, kind), spec: null }).warnings.map((each) => `${each.object} ${each.reason}`)
    const belongsTo = (organization: string) => ({ organizationRef: { name: organization } })
    const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'api-secret' } }

    it('removes what others refer to: they stay and are out of force, and whatever is written later takes effect', async () => {
      const { writer, inventory, organization } = stage
      await writer.createSecret({
        namespace: 'default',
        name: 'keys',
        values: { 'api-secret': 'canary' },
        tenant: null,
        owner: null,
      })
      await make('Website', 'base', site('base'))
      await make('Destination', 'fed', { websiteRef: { name: 'base' }, provider: 'ga4', ga4 })
      await until(() => inventory.organizationOf(at('fed', 'Destination')) === organization)
      expect(leftOutWithout('base', 'Website')).to.deep.equal(['Destination/fed RefNotFound'])
      expect(await drop('base')).to.deep.equal(WRITTEN)
      expect((await stored('fed', 'Destination')).spec['websiteRef']).to.deep.equal({ name: 'base' })
      await make('Website', 'later', site('later'))
      await until(() => inForce(organization).includes('later'))
      expect(inForce(organization)).to.not.include('base')
      expect(await stage.startAgain())
        .to.include('later')
        .and.not.include('base')
      expect(await drop('fed', 'Destination')).to.deep.equal(WRITTEN)
      await drop('later')
    })

    it('removes an install path that its organisation names, and an organisation that still has members', async () => {
      const { writer, directory } = stage
      await make('Organization', 'own', { displayName: 'Own', plan: 'Enterprise' })
      await make('Member', 'boss', { ...belongsTo('own'), email: 'boss@own.dev', role: 'Owner' })
      await make('InstallPath', 'cli', belongsTo('own'))
      await make('Website', 'own-site', { ...belongsTo('own'), primaryOrigin: 'https://own.example' })
      expect(await change('Organization', 'own', { defaultInstallPath: 'cli' })).to.deep.equal(WRITTEN)
      await until(() => leftOutWithout('cli', 'InstallPath').join() === 'Organization/own RefNotFound')
      expect(await drop('cli', 'InstallPath')).to.deep.equal(WRITTEN)
      await until(() => directory.organizations().get('own')?.installPaths.length === 0)
      expect(inForce('own')).to.deep.equal(['own-site'])
      await until(
        () => leftOutWithout('own', 'Organization').join() === 'Website/own-site RefNotFound,Member/boss RefNotFound',
      )
      expect(await drop('own', 'Organization')).to.deep.equal(WRITTEN)
      await until(() => !directory.organizations().has('own'))
      expect(directory.members().filter(({ name: member }) => member === 'boss')).to.deep.equal([])
      expect(await writer.read(at('boss', 'Member'))).to.not.equal(null)
      await make('Website', 'afterwards', site('afterwards'))
      await until(() => inForce(stage.organization).includes('afterwards'))
      expect(await stage.startAgain())
        .to.include('afterwards')
        .and.not.include('own-site')
      for (const [kind, object] of [
        ['Member', 'boss'],
        ['Website', 'own-site'],
        ['Website', 'afterwards'],
      ] as const)
        expect(await drop(object, kind), object).to.deep.equal(WRITTEN)
    })

    it('writes a downgrade whatever it leaves out, and what stays in force can be changed', async () => {
      const { writer, directory } = stage
      await make('Organization', 'paid', { displayName: 'Paid', plan: 'Enterprise', billing: { customer: 'cus_1' } })
      for (const object of ['p-1', 'p-2']) {
        await make('InstallPath', object, belongsTo('paid'))
        await make('Website', `${object}-site`, { ...belongsTo('paid'), primaryOrigin: `https://${object}.example` })
        // Names decide the age of what was made within one second of a cluster.
        await until(() => inForce('paid').includes(`${object}-site`))
      }
      expect(await change('Organization', 'paid', { defaultInstallPath: 'p-2' })).to.deep.equal(WRITTEN)
      const fields = { plan: 'Free', billing: { customer: 'cus_1' } } as const
      expect(await writer.writeBilling(await stored('paid', 'Organization'), fields)).to.deep.equal(WRITTEN)
      await until(() => directory.organizations().get('paid')?.plan === 'Free')
      expect(inForce('paid')).to.deep.equal(['p-1-site'])
      expect(await change('Website', 'p-1-site', { displayName: 'Oldest' })).to.deep.equal(WRITTEN)
      expect(await change('InstallPath', 'p-1', { displayName: 'Oldest' })).to.deep.equal(WRITTEN)
      // What is out of force can be corrected too.
      expect(await change('Website', 'p-2-site', { displayName: 'Youngest' })).to.deep.equal(WRITTEN)
      await until(() => directory.websites('paid')[0]?.displayName === 'Oldest')
      expect(inForce('paid')).to.deep.equal(['p-1-site'])
      for (const object of ['p-1', 'p-2']) {
        await drop(object, 'InstallPath')
        await drop(`${object}-site`)
      }
      await drop('paid', 'Organization')
    })

    it('removes a member for good: the directory no longer has the person', async () => {
      const { directory, organization } = stage
      await make('Member', 'gone', { ...belongsTo('acme'), email: 'gone@acme.dev', role: 'Admin' })
      const names = (): readonly string[] => directory.members().map(({ name: member }) => member)
      await until(() => names().includes('gone'))
      expect(await drop('gone', 'Member')).to.deep.equal(WRITTEN)
      await until(() => !names().includes('gone'))
      expect(directory.organizations().has(organization)).to.equal(true)
    })

    it('makes Secrets, each once, and reads none', async () => {
      const { writer } = stage
      const secret = {
        namespace: 'default',
        name: 's-1',
        values: { 'api-secret': 'canary' },
        tenant: null,
        owner: null,
      }
      expect(await writer.createSecret(secret)).to.deep.equal(WRITTEN)
      expect(await writer.createSecret({ ...secret, values: { 'api-secret': 'other' } })).to.deep.equal({
        kind: 'conflict',
      })
    })

    it('makes as many Secrets for an organisation as it may have, and those of others do not count', async () => {
      const { writer } = stage
      const make = (name: string, organization: string, allowed: number) => {
        const values = { 'api-secret': 'canary' }
        return writer.createSecret({
          namespace: 'default',
          name,
          values,
          tenant: null,
          owner: null,
          room: { organization, allowed },
        })
      }
      expect(await make('of-acme-1', 'acme', 2)).to.deep.equal(WRITTEN)
      expect(await make('of-other', 'other', 1)).to.deep.equal(WRITTEN)
      const both = await Promise.all([make('of-acme-2', 'acme', 2), make('of-acme-3', 'acme', 2)])
      expect(both).to.deep.equal([WRITTEN, { kind: 'full', used: 2 }])
      expect(await make('of-other-2', 'other', 1)).to.deep.equal({ kind: 'full', used: 1 })
      expect(await make('of-acme-3', 'acme', 3)).to.deep.equal(WRITTEN)
    })

    more()
  })
}
