/** What runs with our name on somebody else's machine: nothing that can be changed under us, and no right that is not used. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import { parse } from 'yaml'

import { ROOT } from './source-files.ts'

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly 'timeout-minutes'?: number }>>
}

interface Step {
  readonly uses?: string
  readonly run?: string
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

  it('may read the repository and no more, and end', () => {
    for (const { permissions } of workflows) expect(permissions).to.deep.equal({ contents: 'read' })
    for (const job of jobs) expect(job['timeout-minutes']).to.be.greaterThan(0)
  })

  it('run what runs on any machine', () => {
    expect(jobs.flatMap(({ steps }) => steps.flatMap(({ run = [] }) => run))).to.deep.equal(['.ci/run'])
  })
})
