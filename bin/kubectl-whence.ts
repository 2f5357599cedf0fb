/** `kubectl whence`: explains resources of a cluster, checks files, tests destinations, shows Logs and lets people in. */

import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

import { listIn } from '../domain/guards.ts'
import { PROVIDER_IDS } from '../domain/providers/index.ts'
import { RESOURCE_GROUP } from '../domain/resources/resources.ts'
import { formatProblems, lintFolder } from '../runtime/catalog/source.ts'
import { explain } from './kubectl/explain.ts'
import {
  type ClusterChoice,
  type ClusterObject,
  execIn,
  execInPod,
  getJson,
  kubectl,
  runningPod,
  isClusterObject,
} from './kubectl/run-kubectl.ts'
import { complain, print } from './terminal/output.ts'

const USAGE = `Usage: kubectl whence COMMAND [options]

Commands:
  explain KIND/NAME         Whether it is in force, why not, what it refers to and is compiled to.
  lint -f FILE|FOLDER       Check files before they are applied; asks no cluster. With --allow-missing, Secrets
                            and other objects that they refer to may lie elsewhere.
  send-test DESTINATION     Try a destination from its provider's own pod, and say what the provider answers.
  logs [options]            Show Logs, as \`whencectl logs\` does; its options are handed on.
  sign-in-link --email A    Print a link that signs A in to the dashboard once, within 15 minutes; with --owner-of
                            NAMESPACE/NAME it makes A Owner of this organisation (NAME alone if it is in the namespace
                            default). Takes the right to create Members.
  installs [options]        Show installs, as \`whencectl installs\` does.
  report [options]          Count visits and installs, as \`whencectl report\` does.
  erase [options]           Erase the data of one person, as \`whencectl erase\` does; give --dry-run or --yes.

Options:
  -n, --namespace NAME      Where the custom resources are.
  --release-namespace NAME  Where Whence is installed; needed if it is in several namespaces.
  --context, --kubeconfig   As kubectl takes them.
`

const EXIT_USAGE = 2
/** Commands of `whencectl` itself, which run in a pod of the api. */
const HANDED_ON: readonly string[] = ['logs', 'installs', 'report', 'erase']
/** Passed on to kubectl, each with its value. */
const CLUSTER_OPTIONS: Readonly<Record<string, string>> = {
  '-n': '--namespace',
  '--namespace': '--namespace',
  '--context': '--context',
  '--kubeconfig': '--kubeconfig',
}

interface SendTestOptions {
  readonly choice: ClusterChoice
  /** The words for the command itself. */
  readonly words: readonly string[]
}

export async function kubectlWhence(argv: readonly string[]): Promise<number> {
  const [command = '', ...rest] = argv
  const { choice, words } = wishOf(rest)
  if (HANDED_ON.includes(command)) return execIn(choice, 'api', [command, ...words])
  switch (command) {
    case 'explain':
      return explain(choice, words[0] ?? '')
    case 'lint':
      return lint(words)
    case 'send-test':
      return sendTestInPod(choice, words)
    case 'sign-in-link':
      return signInLink(choice, words)
    default:
      print(USAGE)
      return command === '' || command === 'help' || command === '--help' ? 0 : EXIT_USAGE
  }
}

function wishOf(argv: readonly string[]): SendTestOptions {
  const options: string[] = []
  const words: string[] = []
  let releaseNamespace: string | null = null
  for (let at = 0; at < argv.length; at++) {
    const [name = '', inline] = splitOption(argv[at] ?? '')
    const known = CLUSTER_OPTIONS[name]
    if (known === undefined && name !== '--release-namespace') {
      words.push(argv[at] ?? '')
      continue
    }
    const value = inline ?? argv[++at] ?? ''
    if (known === undefined) releaseNamespace = value
    else options.push(known, value)
  }
  return { choice: { options, releaseNamespace }, words }
}

function splitOption(word: string): readonly [string, string | undefined] {
  const at = word.indexOf('=')
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, undefined]
}

/** A single file is checked as a folder that contains nothing else. */
async function lint(words: readonly string[]): Promise<number> {
  const allowsMissing = words.includes('--allow-missing')
  const [option, path, ...rest] = words.filter((word) => word !== '--allow-missing')
  if (option !== '-f' || path === undefined || rest.length > 0)
    throw new Error('name a file or folder: kubectl whence lint -f PATH')
  const isFolder = (await stat(path)).isDirectory()
  const folder = isFolder ? path : await mkdtemp(join(tmpdir(), 'whence-lint-'))
  try {
    if (!isFolder) await symlink(resolve(path), join(folder, basename(path)))
    const problems = await lintFolder({ folder, env: process.env, allowsMissing })
    print(problems.length === 0 ? `${path}: no problems\n` : `${formatProblems(problems)}\n`)
    return problems.length === 0 ? 0 : 1
  } finally {
    if (!isFolder) await rm(folder, { recursive: true, force: true })
  }
}

/** Only the provider's own pod has its credentials. */
async function sendTestInPod(choice: ClusterChoice, words: readonly string[]): Promise<number> {
  const [named = '', ...rest] = words
  const name = named.replace(/^destinations?\//, '')
  if (name === '' || name.startsWith('-')) throw new Error('name the destination: kubectl whence send-test NAME')
  const found = await getJson(choice, [`destinations.${RESOURCE_GROUP}`, name], isClusterObject)
  if (found.value === null) throw new Error(found.why)
  const provider = PROVIDER_IDS.find((id) => id === found.value.spec?.['provider'])
  if (provider === undefined) throw new Error(`${name} has no provider that this version knows`)
  return execIn(choice, provider.replaceAll('_', '-'), ['send-test', '--destination', name, ...rest])
}

/**
 * Someone who may not create Members must not get in as one either, whatever pods they may look into. The embedded program has no Members in the
 * cluster: who may run commands in its pod already has its folder.
 */
async function signInLink(choice: ClusterChoice, words: readonly string[]): Promise<number> {
  const { pod } = await runningPod(choice, 'api')
  if (pod !== null && isEmbedded(pod)) return execInPod(choice, pod, ['sign-in-link', ...words])
  const { code, stderr } = await kubectl(choice, ['auth', 'can-i', 'create', `members.${RESOURCE_GROUP}`])
  if (code !== 0)
    throw new Error(stderr.trim() || 'it takes the right to create Members there (-n names the namespace)')
  return execIn(choice, 'dashboard', ['sign-in-link', ...words])
}

function isEmbedded({ spec }: ClusterObject): boolean {
  return listIn(spec, 'containers').some((container) => listIn(container, 'args')[0] === 'embedded')
}

if (import.meta.main) {
  process.exitCode = await kubectlWhence(process.argv.slice(2)).catch((error: unknown) => {
    complain(`kubectl whence: ${error instanceof Error ? error.message : String(error)}\n`)
    return EXIT_USAGE
  })
}
