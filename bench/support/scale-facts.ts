/** The facts of `make scale` for a benchmark of the embedded program, and the objects that they belong to. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { SCALE_ORGANIZATION, SCALE_WEBSITES } from '../../fixtures/scale/shape.ts'
import { organization, resource, website, type Manifest } from '../../fixtures/service/manifests.ts'
import { createKeyring } from '../../runtime/keyring.ts'

/** That of `make scale`, for the program: the key ID in the IDs of visits follows from it. */
export const SCALE_SECRET = 'only-for-tests-only-for-tests-only-for-tests'
/** Owner of the organisation. */
export const SCALE_OWNER = 'reader@bench.dev'

/** The organisation of the facts. */
export function scaleObjects(): readonly Manifest[] {
  const organizationRef = { name: SCALE_ORGANIZATION }
  return [
    organization(SCALE_ORGANIZATION),
    ...SCALE_WEBSITES.map((name) => website(name, { organizationRef })),
    resource('Member', 'reader', { organizationRef, email: SCALE_OWNER, role: 'Owner' }),
  ]
}

/** The same as a file for the embedded program. */
export async function writeScaleObjects(manifests: string): Promise<void> {
  await mkdir(manifests, { recursive: true })
  const documents = scaleObjects().map((each) => JSON.stringify(each))
  await writeFile(join(manifests, 'scale.yaml'), documents.join('\n---\n'))
}

/**
 * Fills the tables in the data folder of a service that does not run: with facts of so many visits, or with a copy of what a folder of
 * `make scale` holds.
 */
export async function fillFacts(data: string, { visits, from }: { visits: number; from?: string }): Promise<void> {
  const target = join(data, 'chdb')
  if (from !== undefined) {
    if (!existsSync(join(from, 'chdb'))) throw new Error(`${from} is no folder of make scale`)
    return cp(join(from, 'chdb'), target, { recursive: true })
  }
  const { currentKeyId } = createKeyring([SCALE_SECRET])
  const words = ['bench/support/fill-facts.ts', target, String(visits), String(currentKeyId)]
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) throw new Error('the tables could not be filled')
}
