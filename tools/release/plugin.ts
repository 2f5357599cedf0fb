/** The plugin of kubectl as one file beside a start script, and the manifest by which krew installs it. */

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'esbuild'
import { stringify } from 'yaml'

const ROOT = path.join(import.meta.dirname, '../..')
const HOME = 'https://github.com/whence-dev/whence'

/** Modules that are not ES modules ask for others by `require`. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

const START = `#!/bin/sh
# The plugin of kubectl: \`kubectl whence\`.
set -eu
folder=$(dirname -- "$(readlink -f -- "$0")")
major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || major=0
[ "$major" -ge 24 ] || { printf 'kubectl whence: needs Node 24 or newer on PATH\\n' >&2; exit 1; }
exec node "$folder/kubectl-whence.mjs" "$@"
`

/** Writes the files of the plugin's archive. */
export async function buildPlugin(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await build({
    entryPoints: [path.join(ROOT, 'bin/kubectl-whence.ts')],
    outfile: path.join(folder, 'kubectl-whence.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    legalComments: 'inline',
    tsconfigRaw: {},
    banner: { js: REQUIRE },
  })
  await writeFile(path.join(folder, 'kubectl-whence'), START)
}

export function archiveName(version: string): string {
  return `kubectl-whence-${version}.tar.gz`
}

/** For the index of krew. */
export function krewManifest(version: string, sha256: string): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'whence' },
    spec: {
      version: `v${version}`,
      homepage: HOME,
      shortDescription: 'Explain and check resources of Whence',
      description:
        'Says whether resources of Whence are in force and if not, why; checks them before they are applied, tests destinations, and shows Logs and installs.',
      caveats: 'Needs Node.js 24 or newer on PATH.',
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
          uri: `${HOME}/releases/download/v${version}/${archiveName(version)}`,
          sha256,
          bin: 'kubectl-whence',
        },
      ],
    },
  })
}
