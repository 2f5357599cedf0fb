/** The watched folder: a folder that compiles is swapped in whole; one that does not changes nothing and reports why. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import type { CatalogChange, CatalogSource, FolderCatalog } from '../../runtime/catalog/source.ts'
import { CatalogRefused, openCatalogFolder } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'

const HEAD = 'apiVersion: whence.dev/v1alpha1\n'
const organizationYaml = (plan = 'Standard') =>
  `${HEAD}kind: Organization\nmetadata: { name: acme }\nspec: { plan: ${plan} }\n`
const websiteYaml = (name: string, retentionDays = 395) =>
  `${HEAD}kind: Website\nmetadata: { name: ${name} }\nspec:\n  organizationRef: { name: acme }\n` +
  `  primaryOrigin: https://${name}.example\n  retentionDays: ${retentionDays}\n`

const SECRET_YAML = 'apiVersion: v1\nkind: Secret\nmetadata: { name: ga4 }\nstringData: { key: only-for-tests }\n'
const destinationYaml = (website: string) =>
  `${HEAD}kind: Destination\nmetadata: { name: ga4 }\nspec:\n  websiteRef: { name: ${website} }\n  provider: ga4\n` +
  '  ga4: { measurementId: G-ABC1234567, apiSecretRef: { name: ga4, key: key } }\n'

type FolderOptions = Parameters<typeof openCatalogFolder>
type OpenChoice = Partial<FolderOptions[0]> & FolderOptions[1]

describe('catalog folder', () => {
  let root: string
  let folder: string
  let source: CatalogSource | null
  let lines: string[]
  /** Every change so far, and who waits for the next one that fits. */
  let changes: CatalogChange[]
  let waiting: {
    readonly fits: (change: CatalogChange) => boolean
    readonly resolve: (change: CatalogChange) => void
  }[]

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'whence-catalog-'))
    folder = join(root, 'manifests')
    mkdirSync(folder)
    source = null
    lines = []
    changes = []
    waiting = []
    write('1.yaml', organizationYaml())
    write('2.yaml', websiteYaml('site'))
  })
  afterEach(async () => {
    await source?.close()
    rmSync(root, { recursive: true, force: true })
  })

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const open = async ({ checkProviderSettings, ...more }: OpenChoice = {}): Promise<FolderCatalog> => {
    const logger = createLogger({ program: 'test', level: 'info', write: (line) => lines.push(line) })
    const opened = await openCatalogFolder(
      { folder, env: {}, logger, nowMs: Date.now, ...more },
      checkProviderSettings === undefined ? {} : { checkProviderSettings },
    )
    source = opened
    opened.onChange((change) => {
      changes.push(change)
      for (const waiter of waiting) if (waiter.fits(change)) waiter.resolve(change)
    })
    return opened
  }
  const change = (fits: (change: CatalogChange) => boolean): Promise<CatalogChange> => {
    const { promise, resolve } = Promise.withResolvers<CatalogChange>()
    waiting.push({ fits, resolve })
    return promise
  }
  const retention = (name = 'site') => source?.current().websites.get(name)?.retentionDays
  const hasRetention = (days: number) => (next: CatalogChange) =>
    next.catalog.websites.get('site')?.retentionDays === days

  it('compiles what is there at the start', async () => {
    const opened = await open()
    expect([...opened.current().websites.keys()]).to.deep.equal(['site'])
    expect(opened.problems()).to.deep.equal([])
    expect(lines.join('')).to.contain('catalog in force')
  })

  it('swaps a saved change in, whole', async () => {
    const opened = await open()
    const before = opened.current()
    write('2.yaml', websiteYaml('site', 30))
    const { previous, catalog, isAccepted } = await change(hasRetention(30))
    expect(isAccepted).to.equal(true)
    expect(previous).to.equal(before)
    expect(opened.current()).to.equal(catalog)
    expect(before.websites.get('site')?.retentionDays, 'whoever holds the old one keeps it whole').to.equal(395)
    expect(catalog.version).not.to.equal(before.version)
  })

  it('has a number that grows with every change, and from one start to the next whatever the clock says', async () => {
    const numberFile = join(root, 'catalog-number')
    const start = async (nowMs: () => number) => {
      await source?.close()
      return open({ numberFile, nowMs })
    }
    const first = await start(() => 5_000)
    expect(first.current().number).to.equal(5_000)
    write('2.yaml', websiteYaml('site', 30))
    await change(hasRetention(30))
    expect(first.current().number, 'within the same millisecond').to.equal(5_001)
    const again = await start(() => 4_000)
    expect(again.current().number, 'after a step back of the clock').to.equal(5_002)
    expect((await start(() => 9_000)).current().number).to.equal(9_000)
    writeFileSync(numberFile, 'damaged')
    expect((await start(() => 9_500)).current().number).to.equal(9_500)
  })

  it('is as new as the last look that found nothing else, so that processes with one folder wait for no number', async () => {
    let nowMs = 1_000
    const opened = await open({ nowMs: () => nowMs })
    expect(opened.asOf()).to.be.at.least(1_000)
    nowMs = 8_000
    await until(() => opened.asOf() === 8_000)
    expect(opened.current().number, 'the catalog is still the same').to.equal(1_000)
    write('2.yaml', websiteYaml('site', 12))
    await change(({ isAccepted }) => !isAccepted)
    nowMs = 9_000
    await until(() => opened.asOf() === 9_000)
    expect(opened.current().number, 'a folder that is refused changes nothing for anybody').to.equal(1_000)
    unlinkSync(join(folder, '2.yaml'))
    nowMs = 9_500
    await opened.refresh()
    expect(opened.asOf(), 'a file is missing, and may be gone').to.be.below(9_500)
  })

  it('looks at nothing but the website if nothing else has changed', async () => {
    write('3.yaml', [websiteYaml('other'), SECRET_YAML, destinationYaml('other')].join('---\n'))
    const checked: string[] = []
    await open({
      checkProviderSettings: (provider) => {
        checked.push(provider)
        return []
      },
    })
    expect(checked.splice(0)).to.deep.equal(['ga4'])
    write('2.yaml', websiteYaml('site', 30))
    await change(hasRetention(30))
    expect(checked, 'destinations that were compiled again').to.deep.equal([])
    expect(source?.current().websites.get('other')?.destinations).to.have.length(1)
  })

  it('keeps what is in force while a file is broken, says where, and recovers', async () => {
    const opened = await open()
    const before = opened.current()
    write('2.yaml', websiteYaml('site', 12))
    const refused = await change(({ isAccepted }) => !isAccepted)
    expect(opened.current()).to.equal(before)
    expect(refused.problems).to.deep.equal([
      {
        object: 'Website/site',
        source: '2.yaml, document 1, line 7',
        field: '/spec/retentionDays',
        reason: 'InvalidField',
        message: 'spec.retentionDays: 12 is below 30',
      },
    ])
    expect(opened.problems()).to.deep.equal(refused.problems)
    expect(lines.join('')).to.contain('spec.retentionDays: 12 is below 30')
    write('2.yaml', websiteYaml('site', 31))
    await change(hasRetention(31))
    expect(opened.problems()).to.deep.equal([])
  })

  it('takes nothing of a folder with a broken file, not even what is right in others', async () => {
    await open()
    write('0.yaml', 'kind: [')
    await change(({ isAccepted }) => !isAccepted)
    write('2.yaml', websiteYaml('site', 33))
    await change(({ isAccepted, problems }) => !isAccepted && problems.length > 0)
    expect(retention()).to.equal(395)
    write('0.yaml', '# mended\n')
    await change(hasRetention(33))
  })

  it('leaves out what the plan has no room for, and takes the rest', async () => {
    const opened = await open()
    write('1.yaml', organizationYaml('Free'))
    write('3.yaml', websiteYaml('third'))
    const { isAccepted, problems } = await change((next) => next.problems.length > 0)
    expect(isAccepted).to.equal(true)
    expect(problems.map(({ object, reason }) => `${object} ${reason}`)).to.deep.equal(['Website/third PlanLimit'])
    expect(opened.current().organizations.get('acme')?.plan).to.equal('Free')
  })

  it('never loses a website while an editor replaces its file', async () => {
    await open()
    const path = join(folder, '2.yaml')
    for (let round = 0; round < 3; round += 1) {
      // As vim does it: move the old file away, write a new one; then as others do: empty it, write it again.
      renameSync(path, `${path}~`)
      await turn()
      write('.2.yaml.swp', 'x')
      write('2.yaml', '')
      await turn()
      write('2.yaml', websiteYaml('site', 40 + round))
      await change(hasRetention(40 + round))
    }
    expect(changes.every(({ catalog }) => catalog.websites.has('site'))).to.equal(true)
    expect(changes.every(({ isAccepted }) => isAccepted)).to.equal(true)
  })

  it('takes an atomic rename over the old file', async () => {
    await open()
    writeFileSync(join(root, 'new'), websiteYaml('site', 50))
    renameSync(join(root, 'new'), join(folder, '2.yaml'))
    await change(hasRetention(50))
  })

  it('follows a file behind a symbolic link', async () => {
    writeFileSync(join(root, 'target.yaml'), websiteYaml('site'))
    unlinkSync(join(folder, '2.yaml'))
    symlinkSync(join(root, 'target.yaml'), join(folder, '2.yaml'))
    await open()
    // The second change comes when everything is idle: no notification of the folder reports it.
    for (const days of [60, 61]) {
      writeFileSync(join(root, 'target.yaml'), websiteYaml('site', days))
      await change(hasRetention(days))
    }
  })

  it('follows a folder that is swapped behind a link, as Kubernetes mounts it', async () => {
    mkdirSync(join(folder, '..v1'))
    writeFileSync(join(folder, '..v1', '2.yaml'), websiteYaml('site'))
    symlinkSync('..v1', join(folder, '..data'))
    unlinkSync(join(folder, '2.yaml'))
    symlinkSync('..data/2.yaml', join(folder, '2.yaml'))
    await open()
    for (const days of [70, 71]) {
      mkdirSync(join(folder, `..v${days}`))
      writeFileSync(join(folder, `..v${days}`, '2.yaml'), websiteYaml('site', days))
      symlinkSync(`..v${days}`, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
      await change(hasRetention(days))
    }
  })

  it('takes a website out of force if its file stays away', async () => {
    const opened = await open()
    unlinkSync(join(folder, '2.yaml'))
    await change(({ catalog }) => !catalog.websites.has('site'))
    expect(opened.current().organizations.has('acme')).to.equal(true)
  })

  it('keeps what is in force when the folder itself goes, and continues when it comes back', async () => {
    const opened = await open()
    const before = opened.current()
    renameSync(folder, `${folder}-away`)
    const { problems } = await change(({ isAccepted }) => !isAccepted)
    expect(problems[0]).to.include({ reason: 'FolderUnreadable' })
    expect(opened.current()).to.equal(before)
    renameSync(`${folder}-away`, folder)
    await change(({ isAccepted }) => isAccepted)
    expect(opened.problems()).to.deep.equal([])
    write('2.yaml', websiteYaml('site', 80))
    await change(hasRetention(80))
  })

  it('does not start on a folder that does not compile, and names every problem', async () => {
    write('2.yaml', `${websiteYaml('site', 12)}  typo: 1\n`)
    const error = await failureOf(open())
    expect(error).to.be.instanceOf(CatalogRefused)
    expect((error as CatalogRefused).problems).to.have.length(2)
    expect((error as CatalogRefused).message)
      .to.contain('2.yaml, document 1, line 7')
      .and.to.contain('spec.typo')
  })

  it('does not start without the folder, and starts on an empty one', async () => {
    const there = folder
    folder = join(root, 'nowhere')
    expect(await failureOf(open())).to.be.instanceOf(CatalogRefused)
    folder = there
    unlinkSync(join(folder, '1.yaml'))
    unlinkSync(join(folder, '2.yaml'))
    expect((await open()).current().websites.size).to.equal(0)
  })

  describe('with files of the dashboard', () => {
    let written: string
    beforeEach(() => {
      written = join(root, 'written')
      mkdirSync(written)
    })
    const writeThere = (name: string, text: string) => writeFileSync(join(written, name), text)
    const BROKEN: readonly (readonly [string, string])[] = [
      ['RefNotFound', destinationYaml('nowhere')],
      ['InvalidField', websiteYaml('own', 12)],
      ['UnknownField', websiteYaml('own').replace('retentionDays', 'retention')],
      ['MissingField', websiteYaml('own').replace(/ {2}primaryOrigin.*\n/, '')],
      ['UnknownKind', websiteYaml('own').replace('kind: Website', 'kind: Site')],
      ['DuplicateObject', websiteYaml('site', 30)],
      ['InvalidYaml', 'kind: ['],
      ['ProviderMismatch', destinationYaml('site').replace('provider: ga4', 'provider: meta')],
      ['EnvNotSet', SECRET_YAML.replace('only-for-tests', "'${NOT_SET}'")],
    ]

    for (const [reason, text] of BROKEN)
      it(`starts, and takes up every other change, while one of them has the problem ${reason}`, async () => {
        writeThere('1-broken.yaml', text)
        const opened = await open({ written })
        expect(opened.problems().map((problem) => problem.reason)).to.include(reason)
        expect([...opened.current().websites.keys()]).to.deep.equal(['site'])
        writeThere('2-right.yaml', websiteYaml('right'))
        expect(await opened.refresh()).to.equal(true)
        expect([...opened.current().websites.keys()]).to.deep.equal(['site', 'right'])
        expect(retention(), 'the older of two with one name counts').to.equal(395)
        write('2.yaml', websiteYaml('site', 31))
        expect(await opened.refresh()).to.equal(true)
        expect(retention()).to.equal(31)
      })

    it('are held back by a broken file of somebody else, whoever changes what', async () => {
      const opened = await open({ written })
      write('3.yaml', destinationYaml('nowhere'))
      expect(await opened.refresh()).to.equal(false)
      writeThere('1-right.yaml', websiteYaml('right'))
      expect(await opened.refresh()).to.equal(false)
      expect([...opened.current().websites.keys()]).to.deep.equal(['site'])
      const again = await failureOf(openCatalogFolder({ folder, written, env: {}, logger: quiet(), nowMs: Date.now }))
      expect(again).to.be.instanceOf(CatalogRefused)
      write('3.yaml', '# mended\n')
      expect(await opened.refresh()).to.equal(true)
      expect([...opened.current().websites.keys()]).to.deep.equal(['site', 'right'])
    })

    it('leave out what refers to one that cannot be read, and nothing else', async () => {
      writeThere('1-right.yaml', websiteYaml('right'))
      write('3.yaml', `${SECRET_YAML}---\n${destinationYaml('right')}`)
      const opened = await open({ written })
      expect(opened.current().websites.get('right')?.destinations).to.have.length(1)
      writeThere('1-right.yaml', 'kind: [')
      expect(await opened.refresh()).to.equal(true)
      expect([...opened.current().websites.keys()]).to.deep.equal(['site'])
      expect(opened.problems().map(({ reason }) => reason)).to.include.members(['InvalidYaml', 'RefNotFound'])
    })
  })

  it('calls no listener that has unsubscribed, nor after it is closed', async () => {
    const opened = await open()
    const seen: CatalogChange[] = []
    const end = opened.onChange((next) => seen.push(next))
    end()
    write('2.yaml', websiteYaml('site', 90))
    await change(hasRetention(90))
    expect(seen).to.deep.equal([])
  })

  it('survives a listener that fails', async () => {
    const opened = await open()
    opened.onChange(() => {
      throw new Error('listener')
    })
    write('2.yaml', websiteYaml('site', 91))
    await change(hasRetention(91))
    write('2.yaml', websiteYaml('site', 92))
    await change(hasRetention(92))
    expect(lines.join('')).to.contain('listener of the catalog failed')
  })
})

function quiet() {
  return createLogger({ program: 'test', level: 'silent' })
}

/** Lets notices of the file system arrive, as they would between two steps of an editor. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
    return null
  } catch (error) {
    return error
  }
}
