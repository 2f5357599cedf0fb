/** Tries every hand-made mutation; fails unless each still applies and each is noticed. Arguments select by text. */

import { MUTATIONS, type Mutation } from './mutations.ts'
import { copyTree, runSuites, tryMutation, type Verdict } from './try-mutation.ts'

const LANES = 2

interface Tried {
  readonly mutation: Mutation
  readonly verdict: Verdict
}

async function main(wanted: readonly string[]): Promise<number> {
  const isWanted = ({ breaks, file }: Mutation): boolean =>
    wanted.length === 0 || wanted.some((text) => breaks.includes(text) || file.includes(text))
  const waiting = MUTATIONS.filter(isWanted)
  const tried: Tried[] = []
  const healthy = new Map<string, Promise<Verdict>>()
  await Promise.all(Array.from({ length: LANES }, () => workOff(waiting, tried, healthy)))
  const killed = tried.filter(({ verdict }) => verdict.kind === 'killed').length
  console.log(`${killed} of ${tried.length} mutations are noticed`)
  return tried.length > 0 && killed === tried.length ? 0 : 1
}

/** Takes mutations off the list until it is empty, in its own copy of the tree. */
async function workOff(waiting: Mutation[], tried: Tried[], healthy: Map<string, Promise<Verdict>>): Promise<void> {
  const { folder, remove } = await copyTree()
  try {
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const verdict = await judge(folder, mutation, healthy)
      tried.push({ mutation, verdict })
      const why = 'why' in verdict ? `: ${verdict.why}` : ''
      console.log(`${verdict.kind.padEnd(12)} ${mutation.file}: ${mutation.breaks}${why}`)
    }
  } finally {
    await remove()
  }
}

/** Suites that fail without any mutation prove nothing, so each set of them is run as it is first. */
async function judge(folder: string, mutation: Mutation, healthy: Map<string, Promise<Verdict>>): Promise<Verdict> {
  const key = mutation.suites.join(' ')
  const before = healthy.get(key) ?? runSuites(folder, mutation.suites)
  healthy.set(key, before)
  const { kind } = await before
  if (kind !== 'survived') return { kind: 'broken', why: `the suites fail without it (${kind})` }
  return tryMutation(folder, mutation)
}

process.exitCode = await main(process.argv.slice(2))
