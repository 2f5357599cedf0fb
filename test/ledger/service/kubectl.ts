/** The plugin of kubectl, with a kubectl whose only pod is this machine. */

import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { PROGRAM, startProgram, type Ran } from '../../bin/support/run-whencectl.ts'

const PLUGIN = new URL('../../../bin/kubectl-whence', import.meta.url).pathname
const PODS = { items: [{ kind: 'Pod', metadata: { name: 'api-0', namespace: 'whence' } }] }

/** `folder` is for the kubectl that is made. */
export async function kubectlWhence(folder: string, words: readonly string[]): Promise<Ran> {
  const kubectl = join(folder, 'kubectl')
  const lines = [
    '#!/bin/sh',
    `if [ "$1" = get ]; then echo '${JSON.stringify(PODS)}'; exit; fi`,
    // What stands behind the two dashes is the command in the pod.
    'while [ "$1" != -- ]; do shift; done',
    'shift 2',
    `exec '${process.execPath}' '${PROGRAM}' "$@"`,
  ]
  await writeFile(kubectl, `${lines.join('\n')}\n`)
  await chmod(kubectl, 0o755)
  return startProgram(PLUGIN, words, { PATH: `${folder}:${process.env['PATH'] ?? ''}` }).ended
}
