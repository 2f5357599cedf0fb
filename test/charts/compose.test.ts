/** compose.yaml is what Compose's own schema allows, and starts the program with options that it has. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { Ajv2019 } from 'ajv/dist/2019.js'
import { expect } from 'chai'
import { parse } from 'yaml'

import { whencectl } from '../bin/support/run-whencectl.ts'
import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
/** The schema comes with Compose's own parser. */
const MODULE = 'github.com/compose-spec/compose-go/v2@v2.4.7'
const SUM = 'h1:WNpz5bIbKG+G+w9pfu72B1ZXr+Og9jez8TMEo8ecXPk='

interface Compose {
  readonly services: {
    readonly whence: { readonly command: readonly string[]; readonly user: string; readonly read_only: boolean }
  }
}

/** Null if there is no Go, unless CI=true: then that is an error. */
async function composeSchema(): Promise<object | null> {
  try {
    const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], { cwd: '/' })
    const { Dir: folder, Sum: sum } = JSON.parse(stdout) as { readonly Dir: string; readonly Sum: string }
    if (sum !== SUM) throw new Error(`${MODULE} has the digest ${sum}`)
    const text = await readFile(join(folder, 'schema/compose-spec.json'), 'utf8')
    // Its parts have names as in an older draft, by which nothing refers to them.
    const withoutId = (name: string, value: unknown): unknown =>
      name === 'id' && typeof value === 'string' ? undefined : value
    return JSON.parse(text, withoutId) as object
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    console.error(`the schema of Compose cannot be had (Go fetches it): ${String(error)}`)
    return null
  }
}

describe('compose.yaml', function () {
  this.timeout(60_000)
  let file: Compose

  before(async () => {
    file = parse(await readFile(join(ROOT, 'compose.yaml'), 'utf8')) as Compose
  })

  it("fits Compose's schema, which refuses what is misspelt", async function () {
    const schema = await composeSchema()
    if (schema === null) return this.skip()
    const ajv = new Ajv2019({ strict: false, validateFormats: false })
    const validate = ajv.compile(schema)
    expect(validate(file), ajv.errorsText(validate.errors)).to.equal(true)
    const misspelt = { ...file, services: { whence: { ...file.services.whence, read_onli: true } } }
    expect(validate(misspelt)).to.equal(false)
  })

  it('starts an unprivileged program on a root that cannot be written to, with options that it has', async () => {
    const { command, user, read_only: isReadOnly } = file.services.whence
    expect([user, isReadOnly]).to.deep.equal(['65532:65532', true])
    const { status, stdout, stderr } = await whencectl([...command, '--check'])
    expect(status, stderr).to.equal(0)
    expect(stdout).to.contain('0.0.0.0:8080')
  })
})
