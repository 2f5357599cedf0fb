/** `whencectl COMMAND`: the one command line of all programs and tools. Only bin/ reads the environment and the arguments. */

import { isCommand, type CommandName } from '../runtime/settings/commands.ts'
import { compileSettings, overview, unknownCommand, type RunOutcome } from '../runtime/settings/settings.ts'
import { version } from './wiring/version.ts'
import { complain, print } from './terminal/output.ts'

const EXIT_USAGE = 2

type Command<C extends CommandName> = (run: RunOutcome<C>, env: NodeJS.ProcessEnv) => Promise<number>

/** Each is loaded on demand, so that a tool does not load an engine it never opens. */
const LOADERS: { readonly [C in CommandName]: () => Promise<Command<C>> } = {
  embedded: async () => (await import('./embedded.ts')).embedded,
  api: async () => (await import('./api.ts')).api,
  dashboard: async () => (await import('./dashboard.ts')).dashboard,
  delivery: async () => (await import('./delivery.ts')).delivery,
  operator: async () => (await import('./operator.ts')).operator,
  'stand-ins': async () => (await import('./stand-ins.ts')).standIns,
  init: async () => (await import('./tools/init.ts')).initTool,
  person: async () => (await import('./tools/person.ts')).personTool,
  'sign-in-link': async () => (await import('./tools/sign-in-link.ts')).signInLinkTool,
  migrate: async () => (await import('./tools/migrate.ts')).migrateTool,
  explain: async () => (await import('./tools/explain.ts')).explainTool,
  logs: async () => (await import('./tools/lists/lists.ts')).logsTool,
  installs: async () => (await import('./tools/lists/lists.ts')).installsTool,
  report: async () => (await import('./tools/figures/report.ts')).reportTool,
  'replay-decisions': async () => (await import('./tools/figures/replay-decisions.ts')).replayDecisionsTool,
  'rebuild-rollups': async () => (await import('./tools/figures/report.ts')).rebuildRollupsTool,
  spend: async () => (await import('./tools/figures/spend.ts')).spendTool,
  activity: async () => (await import('./tools/lists/lists.ts')).activityTool,
  'dead-letters': async () => (await import('./tools/dead-letters.ts')).deadLettersTool,
  replay: async () => (await import('./tools/dead-letters.ts')).replayTool,
  'send-test': async () => (await import('./tools/send-test.ts')).sendTestTool,
  'rebuild-state': async () => (await import('./tools/rebuild-state.ts')).rebuildStateTool,
  check: async () => (await import('./tools/check.ts')).checkTool,
  backup: async () => (await import('./tools/backup/backup.ts')).backupTool,
  restore: async () => (await import('./tools/backup/restore.ts')).restoreTool,
  erase: async () => (await import('./tools/erasure/erase.ts')).eraseTool,
  statement: async () => (await import('./tools/statement.ts')).statementTool,
  key: async () => (await import('./tools/key.ts')).keyTool,
  lint: async () => (await import('./tools/lint.ts')).lintTool,
}

export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === 'help') return printAndExit(overview(), 0)
  if (name === '--version') return printAndExit(`whencectl ${version()}\n`, 0)
  if (isCommand(name)) return runNamed(name, rest, env)
  complain(unknownCommand(name).text)
  return EXIT_USAGE
}

async function runNamed<C extends CommandName>(
  name: C,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const outcome = compileSettings(name, argv, env)
  switch (outcome.kind) {
    case 'help':
      return printAndExit(outcome.text, 0)
    case 'version':
      return printAndExit(`whencectl ${version()}\n`, 0)
    case 'check':
      return printAndExit(outcome.text, 0)
    case 'problems':
      complain(outcome.text)
      return EXIT_USAGE
    case 'run':
      return runCommand(name, outcome, env)
  }
}

async function runCommand<C extends CommandName>(name: C, run: RunOutcome<C>, env: NodeJS.ProcessEnv): Promise<number> {
  const command = await LOADERS[name]()
  try {
    return await command(run, env)
  } catch (error) {
    complain(`whencectl ${name}: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

function printAndExit(text: string, code: number): number {
  print(text)
  return code
}

if (import.meta.main) {
  // Also for files that the engines write: facts and copies of the catalog are for this user alone.
  process.umask(0o077)
  // A reader may stop early (`whencectl logs | head`): that is no failure.
  process.stdout.on('error', () => process.exit(0))
  process.exitCode = await main(process.argv.slice(2), process.env)
}
