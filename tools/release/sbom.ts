/** Bills of materials: which packages, by digest, each image and the npm package of the service hold. Made by npm from the lockfile. */

import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MOST_BYTES = 50_000_000
/** The image brings Node itself. */
const NOT_IN_IMAGES = /^node_modules\/node-linux-/
const CHDB = /^node_modules\/(@chdb\/|chdb$|chdb\/)/

/** What is left out of the npm package's dependencies in each. */
const PRODUCTS: Readonly<Record<string, (place: string) => boolean>> = {
  'whence-server': () => false,
  whence: (place) => NOT_IN_IMAGES.test(place) || CHDB.test(place),
  'whence-embedded': (place) => NOT_IN_IMAGES.test(place),
}

interface Manifest {
  readonly optionalDependencies: Readonly<Record<string, string>>
}

interface Lockfile {
  readonly packages: Readonly<Record<string, object>>
}

/** Writes `NAME.cdx.json` (CycloneDX) for each product, from the package in `packageFolder`. */
export async function writeBillsOfMaterials(packageFolder: string, folder: string): Promise<void> {
  const read = async <T>(name: string): Promise<T> =>
    JSON.parse(await readFile(path.join(packageFolder, name), 'utf8')) as T
  const manifest = await read<Manifest>('package.json')
  const lock = await read<Lockfile>('npm-shrinkwrap.json')
  for (const [name, isLeftOut] of Object.entries(PRODUCTS)) {
    // npm takes the product's name from the folder's.
    const work = path.join(folder, 'sbom', name)
    await mkdir(work, { recursive: true })
    const optional = Object.entries(manifest.optionalDependencies).filter(
      ([each]) => !isLeftOut(`node_modules/${each}`),
    )
    const own = { ...manifest, name, optionalDependencies: Object.fromEntries(optional) }
    const kept = Object.entries(lock.packages).filter(([place]) => place !== '' && !isLeftOut(place))
    const packages = { '': own, ...Object.fromEntries(kept) }
    await writeFile(path.join(work, 'package.json'), JSON.stringify(own))
    await writeFile(path.join(work, 'package-lock.json'), JSON.stringify({ ...lock, name, packages }))
    const words = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application']
    const { stdout } = await run('npm', words, { cwd: work, maxBuffer: MOST_BYTES })
    await writeFile(path.join(folder, `${name}.cdx.json`), stdout)
  }
  await rm(path.join(folder, 'sbom'), { recursive: true })
}
