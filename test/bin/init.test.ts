/** `whencectl init` as it is typed, and as scripts run it: what it asks, what it writes, and what it refuses. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'

import { newNames } from '../../bin/tools/init/manifests.ts'
import { ORIGIN, PLACE, type InitAnswers } from '../../bin/tools/init/questions.ts'
import { lintFolder } from '../../runtime/catalog/source.ts'
import { shell, whencectl } from './support/run-whencectl.ts'

const SAID =
  '--yes --organization Acme,-Inc. --time-zone Europe/Berlin --origin acme.dev --place Html --tool curl --command https://acme.dev/install.sh'.split(
    ' ',
  )

describe('whencectl init', () => {
  let folder: string
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'whence-init-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const written = async () => {
    const [name = '', ...others] = await readdir(folder)
    expect(others).to.deep.equal([])
    const documents = parseAllDocuments(await readFile(join(folder, name), 'utf8'))
    return { name, objects: documents.map((document) => document.toJS() as Record<string, unknown>) }
  }

  it('writes manifests without problems, and prints each text with its place', async () => {
    const ran = await whencectl([
      'init',
      folder,
      ...SAID,
      '--matching',
      'TokensAndMarkers',
      '--base-url',
      'https://w.acme.dev',
    ])
    expect(ran.status, ran.stderr).to.equal(0)
    const { name, objects } = await written()
    expect(name).to.equal('acme-inc.yaml')
    expect(objects.map(({ kind, metadata, spec }) => ({ kind, metadata, spec }))).to.deep.equal([
      {
        kind: 'Organization',
        metadata: { name: 'acme-inc' },
        spec: { displayName: 'Acme,-Inc.', plan: 'Enterprise', timeZone: 'Europe/Berlin' },
      },
      {
        kind: 'Website',
        metadata: { name: 'acme-dev' },
        spec: { organizationRef: { name: 'acme-inc' }, primaryOrigin: 'https://acme.dev' },
      },
    ])
    expect(await lintFolder({ folder, env: {} })).to.deep.equal([])
    expect(ran.stdout).to.contain('<script async src="https://w.acme.dev/browser.js" data-project="acme-dev"></script>')
    expect(ran.stdout).to.contain('https://acme.dev/install.sh')
    expect(ran.stdout).to.contain('https://w.acme.dev/v1/projects/acme-dev/report.sh')
    expect(ran.stdout).to.contain(`whencectl embedded --manifests ${folder}`)
  })

  it('switches the scan off for tokens only, and takes the default plan', async () => {
    const ran = await whencectl(['init', folder, ...SAID, '--matching', 'tokensonly', '--sign-up', 'Open'])
    expect(ran.status, ran.stderr).to.equal(0)
    const { objects } = await written()
    expect(objects.map(({ spec }) => spec)).to.deep.include.members([
      { displayName: 'Acme,-Inc.', plan: 'Free', timeZone: 'Europe/Berlin' },
      {
        organizationRef: { name: 'acme-inc' },
        primaryOrigin: 'https://acme.dev',
        hook: { scan: 'Disabled' },
      },
    ])
    expect(ran.stdout).to.contain('data-markers="off"')
  })

  it('asks for what was not said, again after an answer that does not fit, and prefers nothing', async () => {
    const answers = [
      '',
      'Acme',
      'Nowhere/City',
      'Europe/Berlin',
      'ftp://acme.dev',
      'acme.dev',
      '2',
      '10',
      '1',
      '',
      '',
      '2',
    ]
    const typed = answers.map((answer) => `${answer}\\n`).join('')
    const ran = await shell(`printf '${typed}' | $WHENCE init '${folder}'`)
    expect(ran.status, ran.stderr).to.equal(0)
    const refusals = ran.stderr.split('\n').filter((line) => line.includes('It must'))
    expect(refusals).to.have.length(5)
    expect(ran.stderr).to.match(/1 {2}Tokens only\.[^]*2 {2}Tokens and markers\./)
    expect(ran.stdout).to.contain('app/layout.jsx')
    expect((await written()).name).to.equal('acme.yaml')
  })

  it('names at once all that --yes lacks, and writes nothing', async () => {
    const ran = await whencectl(['init', folder, '--yes', '--place', 'Html'])
    expect(ran.status).to.equal(1)
    expect(ran.stderr).to.equal('whencectl init: with --yes, say --organization, --origin, --tool, --matching too\n')
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('says which flag does not fit, and why', async () => {
    const ran = await whencectl(['init', folder, ...SAID, '--matching', 'Cookies'])
    expect(ran.status).to.equal(1)
    expect(ran.stderr).to.equal(
      'whencectl init: --matching must be one of TokensOnly, TokensAndMarkers, or a number from 1 to 2\n',
    )
  })

  it('leaves a file alone that is there already', async () => {
    await writeFile(join(folder, 'acme-inc.yaml'), '# mine\n')
    const ran = await whencectl(['init', folder, ...SAID, '--matching', '1'])
    expect(ran.status).to.equal(1)
    expect(ran.stderr).to.contain('acme-inc.yaml is there already')
    expect(await readFile(join(folder, 'acme-inc.yaml'), 'utf8')).to.equal('# mine\n')
  })

  it('reads the address of a website as people type it', () => {
    const read = (text: string) => ORIGIN.read(text)
    for (const text of ['acme.dev', 'https://acme.dev', 'HTTPS://Acme.dev/docs?x=1', 'https://acme.dev:443/'])
      expect(read(text), text).to.deep.equal({ ok: true, value: 'https://acme.dev' })
    expect(read('http://localhost:3000')).to.deep.equal({ ok: true, value: 'http://localhost:3000' })
    for (const text of ['', 'http://acme.dev', 'ftp://acme.dev', 'acme dev'])
      expect(read(text).ok, text).to.equal(false)
  })

  it('takes a choice by number or name, and nothing near it', () => {
    expect(PLACE.read('nextjs')).to.deep.equal({ ok: true, value: 'NextJs' })
    expect(PLACE.read('9')).to.deep.equal({ ok: true, value: 'Readme' })
    for (const text of ['', '0', '10', '1.0', 'Next']) expect(PLACE.read(text).ok, text).to.equal(false)
  })

  it('makes names of objects from any words', () => {
    const of = (organization: string, origin: string) => newNames({ organization, origin } as InitAnswers)
    expect(of('Café Zürich & Söhne', 'https://docs.acme.dev')).to.deep.equal({
      organization: 'cafe-zurich-sohne',
      website: 'docs-acme-dev',
    })
    expect(of('株式会社', 'http://localhost:3000')).to.deep.equal({
      organization: 'organization',
      website: 'localhost-3000',
    })
    const long = of('-x'.repeat(60), 'https://acme.dev').organization
    expect(long).to.match(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/)
  })
})
