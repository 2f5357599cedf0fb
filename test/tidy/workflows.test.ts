/** What runs with our name on somebody else's machine: nothing that can be changed under us, and no right that is not used. */

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import { parse } from 'yaml'

import { ROOT } from './source-files.ts'

interface Workflow {
  readonly name: string
  readonly on: object
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
  readonly 'timeout-minutes'?: number
}

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** What a job of a release may do beyond reading: push images and charts, prove who made them, and fill the release's page. */
const RELEASE_RIGHTS: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  check: undefined,
  image: { contents: 'read', packages: 'write', 'id-token': 'write' },
  packages: { contents: 'read', 'id-token': 'write' },
  files: { contents: 'write', packages: 'write', 'id-token': 'write' },
}

/** Steps whose action is not named by the digest of a commit. */
function loose(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(({ uses }) => (uses === undefined || /@[0-9a-f]{40}$/.test(uses) ? [] : [uses]))
}

describe('the workflows', () => {
  const files = globSync('.github/workflows/*', { cwd: ROOT })
  const workflows = files.map((file) => parse(readFileSync(join(ROOT, file), 'utf8')) as Workflow)
  const jobs = workflows.flatMap((workflow) => Object.values(workflow.jobs))

  it('name every action by the digest of a commit, with its version beside', () => {
    expect(loose([{ uses: 'actions/checkout@v7' }, { run: 'make' }])).to.deep.equal(['actions/checkout@v7'])
    expect(jobs.length).to.be.greaterThan(0)
    expect(jobs.flatMap(({ steps }) => loose(steps))).to.deep.equal([])
    for (const file of files) {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
      for (const line of lines.filter((text) => text.includes('uses:')))
        expect(line, file).to.match(/ # v\d+\.\d+\.\d+$/)
    }
  })

  const workflow = (name: string): Workflow => workflows.find((each) => each.name === name) as Workflow
  const commands = ({ steps }: Job): readonly string[] => steps.flatMap(({ run = [] }) => run)

  it('may read the repository and no more, unless they publish, and end', () => {
    for (const { permissions } of workflows) expect(permissions).to.deep.equal({ contents: 'read' })
    for (const job of jobs) expect(job['timeout-minutes']).to.be.greaterThan(0)
    for (const job of Object.values(workflow('check').jobs)) expect(job.permissions).to.equal(undefined)
    const rights = Object.entries(workflow('release').jobs).map(([name, { permissions }]) => [name, permissions])
    expect(Object.fromEntries(rights)).to.deep.equal(RELEASE_RIGHTS)
    expect(workflow('release').on).to.deep.equal({ push: { tags: ['v*'] } })
  })

  it('leave no credentials to what they run', () => {
    for (const { uses = '', with: settings = {} } of jobs.flatMap(({ steps }) => steps)) {
      if (uses.startsWith('actions/checkout@')) expect(settings['persist-credentials']).to.equal(false)
    }
    expect(files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join()).not.to.match(/secrets\./)
  })

  it('run what runs on any machine, before anything is published', () => {
    expect(Object.values(workflow('check').jobs).flatMap(commands)).to.deep.equal(['.ci/run'])
    const { check, ...others } = workflow('release').jobs
    expect(check?.steps.at(-1)?.run).to.equal('.ci/run')
    for (const { needs = [] } of Object.values(others)) expect([needs].flat().length).to.be.greaterThan(0)
    expect(others['image']?.needs).to.equal('check')
    expect(others['packages']?.needs).to.equal('image')
  })

  it('build images that the Dockerfile has, and publish what a dry run makes', () => {
    const { image, packages, files: published } = workflow('release').jobs
    const targets = image?.steps.flatMap((step) => step.with?.['target'] ?? []) ?? []
    const stages = [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^FROM .* AS (\S+)$/gm)]
    expect(stages.map(([, stage]) => stage)).to.include.members(targets)
    expect(targets).to.deep.equal(['without-chdb', 'whence-embedded'])
    for (const job of [image, packages, published]) {
      const text = job === undefined ? '' : commands(job).join('\n')
      expect(text).to.include('make release-dry-run')
      expect(text).to.match(/cosign sign|npm publish --provenance/)
    }
  })

  it('are shell that a shell understands', () => {
    for (const text of jobs.flatMap(commands)) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' })
      expect(status, stderr).to.equal(0)
    }
  })
})
