/** Compiles a command line and an environment into settings, or into a list of everything wrong with them, by name. */

import { keysOf } from '../../domain/typed-keys.ts'
import { withoutEdges } from '../../domain/schema/pasted-text.ts'
import { closestName } from '../../domain/schema/closest-name.ts'
import { readArguments } from './arguments.ts'
import type { CommandName, CommandRow } from './commands.ts'
import { COMMANDS } from './commands.ts'
import { maskUrl } from './parse.ts'
import { TOGETHER } from './setting-groups.ts'
import type { SettingsOf } from './settings-of.ts'
import type { FallbackSource, SettingName, SettingRow } from './table.ts'
import { FOREIGN_VARIABLES, SETTINGS } from './table.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface SettingProblem {
  /** The option or variable as it was given: `--listen`, `WHENCE_LISTEN`. */
  readonly name: string
  /** Completes a sentence that begins with the name; never repeats the value. */
  readonly message: string
}

/** What follows the name of a command, besides its settings. */
export interface CommandArguments {
  /** The command's own flags; a switch that is on holds an empty text. */
  readonly flags: ReadonlyMap<string, string>
  readonly positionals: readonly string[]
}

export interface RunOutcome<C extends CommandName> extends CommandArguments {
  readonly kind: 'run' | 'check'
  readonly settings: SettingsOf<C>
  /** All settings the command reads, one a line, secrets masked: what `--check` prints. */
  readonly text: string
}

/** Everything that is wrong with what was given. */
export interface ProblemsOutcome {
  readonly kind: 'problems'
  readonly problems: readonly SettingProblem[]
  readonly text: string
}

export type SettingsOutcome<C extends CommandName> =
  RunOutcome<C> | { readonly kind: 'help'; readonly text: string } | { readonly kind: 'version' } | ProblemsOutcome

/** `argv` is what follows the command. Options override variables; an empty variable counts as absent. */
export function compileSettings<C extends CommandName>(
  command: C,
  argv: readonly string[],
  env: Environment,
): SettingsOutcome<C> {
  const row: CommandRow = COMMANDS[command]
  const given = readArguments(argv, row)
  if (given.wish === 'help') return { kind: 'help', text: commandHelp(command, row) }
  if (given.wish === 'version') return { kind: 'version' }
  const problems: SettingProblem[] = [...given.problems, ...unknownVariables(env)]
  const texts = settingTexts(row, given.options, env)
  const settings = parseAll<C>(row, texts, problems)
  problems.push(...crossChecks(command, row, texts))
  if (problems.length > 0) return problemsOutcome(problems)
  return {
    kind: given.wish === 'check' ? 'check' : 'run',
    settings,
    flags: given.flags,
    positionals: given.positionals,
    text: shownSettings(row, texts),
  }
}

/** What `whencectl` prints without a command. */
export function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length))
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'Usage: whencectl COMMAND [options]',
    '',
    'Commands:',
    ...lines,
    '',
    '`whencectl COMMAND --help` shows more.',
    '',
  ].join('\n')
}

/** The help text of one command, made from the tables. */
function commandHelp(command: string, row: CommandRow): string {
  const options = [
    ...Object.entries(row.flags).map(([name, flag]) => ({ name, ...flag })),
    ...row.settings.map(settingHelp),
    { name: '--check', placeholder: null, doc: 'Print the settings, secrets masked, and exit.' },
    { name: '--version', placeholder: null, doc: 'Print the version and exit.' },
    { name: '--help', placeholder: null, doc: 'Print this help and exit.' },
  ].map(({ name, placeholder, doc }) => ({ head: placeholder === null ? name : `${name} ${placeholder}`, doc }))
  const width = Math.max(...options.map(({ head }) => head.length))
  const usage = ['Usage: whencectl', command, ...row.positionals, '[options]'].join(' ')
  return [usage, '', row.summary, '', ...options.map(({ head, doc }) => `  ${head.padEnd(width)}  ${doc}`), ''].join(
    '\n',
  )
}

/** The text of a setting and where it came from; null if it is not set and has no default. */
interface SettingText {
  readonly source: string
  readonly text: string
}
type SettingTexts = ReadonlyMap<SettingName, SettingText>

function rowOf(name: SettingName): SettingRow<unknown> {
  return SETTINGS[name]
}

function settingTexts(command: CommandRow, options: ReadonlyMap<string, string>, env: Environment): SettingTexts {
  const texts = new Map<SettingName, SettingText>()
  const byName: ReadonlyMap<string, SettingText> = texts
  const above: FallbackSource = {
    hasFolders: command.engines !== 'servers',
    text: (name) => byName.get(name)?.text ?? '',
  }
  for (const name of keysOf(SETTINGS)) {
    const row = rowOf(name)
    const option = row.option === null ? undefined : options.get(row.option)
    // A variable that comes from a Secret or a file often ends in a line break.
    const variable = withoutEdges(env[row.env] ?? env[otherSpelling(row.env)] ?? '')
    if (row.option !== null && option !== undefined) texts.set(name, { source: row.option, text: withoutEdges(option) })
    else if (variable !== '') texts.set(name, { source: row.env, text: variable })
    else {
      const fallback = typeof row.fallback === 'function' ? row.fallback(above) : row.fallback
      if (fallback !== null) texts.set(name, { source: 'default', text: fallback })
    }
  }
  return texts
}

/** `https_proxy` and `no_proxy` are as usual as the capitals; our own variables have one spelling. */
function otherSpelling(name: string): string {
  return name.startsWith('WHENCE_') ? name : name.toLowerCase()
}

function parseAll<C extends CommandName>(
  row: CommandRow,
  texts: SettingTexts,
  problems: SettingProblem[],
): SettingsOf<C> {
  const values: Partial<Record<SettingName, unknown>> = {}
  const unusable: SettingProblem[] = []
  for (const name of keysOf(SETTINGS).filter((each) => row.settings.includes(each))) {
    const given = texts.get(name)
    const parsed = given === undefined ? null : rowOf(name).parse(given.text)
    values[name] = parsed?.ok === true ? parsed.value : null
    if (given === undefined || parsed?.ok !== false) continue
    if (given.source === 'default') unusable.push({ name: rowOf(name).env, message: parsed.why })
    else problems.push({ name: given.source, message: parsed.why })
  }
  // A default that is derived from a wrong setting is wrong with it, and needs no word of its own.
  if (problems.length === 0) problems.push(...unusable)
  // The type follows from the tables; what could not be parsed or is missing is among the problems, and nothing runs.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- problems end the program before it is used
  return Object.freeze(values) as SettingsOf<C>
}

/** Checks across settings and commands. */
function crossChecks(command: CommandName, row: CommandRow, texts: SettingTexts): readonly SettingProblem[] {
  return [
    ...(row.engines === 'folders' ? folderChecks(row, texts) : []),
    ...(row.engines === 'servers' ? serverChecks(row, texts) : []),
    ...missingSettings(command, row, texts),
    ...(row.settings.includes('secret') ? secretChecks(command, row, texts) : []),
    ...(row.settings.includes('oidcIssuer') ? peopleChecks(texts) : []),
  ]
}

/** One process keeps its engines in folders; servers are for several processes. */
function folderChecks(row: CommandRow, texts: SettingTexts): readonly SettingProblem[] {
  return (['eventLog', 'facts'] as const).flatMap((name) => {
    const given = texts.get(name)
    if (given === undefined || !row.settings.includes(name) || !/^(kafka|https?):\/\//.test(given.text)) return []
    const scheme = name === 'facts' ? 'chdb' : 'lmdb'
    return [{ name: given.source, message: `must be a folder, as in ${scheme}:./data/${scheme}` }]
  })
}

/** Several processes cannot share folders. */
function serverChecks(row: CommandRow, texts: SettingTexts): readonly SettingProblem[] {
  return (['eventLog', 'hotState', 'facts'] as const).flatMap((name) => {
    const scheme = row.settings.includes(name) ? /^(lmdb|chdb):/.exec(texts.get(name)?.text ?? '') : null
    if (scheme === null) return []
    return [{ name: SETTINGS[name].env, message: `${scheme[0]} works only in the embedded program` }]
  })
}

function missingSettings(command: string, row: CommandRow, texts: SettingTexts): readonly SettingProblem[] {
  const { always = [], byRole = {} } = row.needs ?? {}
  const role = texts.get('role')?.text ?? ''
  const ofRole = Object.hasOwn(byRole, role) ? (byRole[role] ?? []) : []
  return [...missingAmong(always, command, texts), ...missingAmong(ofRole, `the role ${role}`, texts)]
}

function missingAmong(names: readonly SettingName[], user: string, texts: SettingTexts): readonly SettingProblem[] {
  return names
    .filter((name) => !texts.has(name))
    .map(rowOf)
    .map(({ env, option, isPartOfCommand }) => ({
      name: isPartOfCommand === true && option !== null ? option : env,
      message: `is required for ${user}`,
    }))
}

/** What belongs together: each of these makes the others necessary. */
function peopleChecks(texts: SettingTexts): readonly SettingProblem[] {
  const groups: readonly (readonly SettingName[])[] = Object.values(TOGETHER)
  const alone = texts.has('supportMail') && !texts.has('smtpUrl') ? [requiredWith('smtpUrl', 'supportMail')] : []
  const inGroups = groups.flatMap((group) => {
    const given = group.find((name) => texts.has(name))
    const missing = group.filter((name) => !texts.has(name))
    return given === undefined ? [] : missing.map((name) => requiredWith(name, given))
  })
  return [...inGroups, ...alone]
}

function requiredWith(name: SettingName, given: SettingName): SettingProblem {
  return { name: SETTINGS[name].env, message: `is required with ${SETTINGS[given].env}` }
}

function secretChecks(
  command: CommandName,
  { needs = {} }: CommandRow,
  texts: SettingTexts,
): readonly SettingProblem[] {
  const { env } = SETTINGS.secretFile
  const file = texts.get('secretFile')
  if (texts.has('secret')) {
    const isBoth = file !== undefined && file.source !== 'default'
    return isBoth ? [{ name: SETTINGS.secret.env, message: `cannot be given together with ${env}` }] : []
  }
  if (file !== undefined || (needs.secretWith !== undefined && !texts.has(needs.secretWith))) return []
  return [{ name: env, message: `is required for ${command}, or ${SETTINGS.secret.env}` }]
}

function unknownVariables(env: Environment): readonly SettingProblem[] {
  const known = Object.values(SETTINGS).map((row) => row.env)
  const allowed = new Set<string>([...known, ...FOREIGN_VARIABLES])
  const links = serviceLinks(env)
  return Object.keys(env)
    .filter((name) => name.startsWith('WHENCE_') && !allowed.has(name) && !links.some((link) => link.test(name)))
    .sort()
    .map((name) => ({ name, message: unknownMessage('variable', name, known) }))
}

/**
 * Kubernetes tells a pod of every Service in its namespace by variables; those of one that is called `whence`, or `whence-` and something, look like
 * settings. They come together: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
function serviceLinks(env: Environment): readonly RegExp[] {
  return Object.keys(env).flatMap((name) => {
    const [, service = ''] = /^(WHENCE(?:_[A-Z0-9_]+)?)_SERVICE_HOST$/.exec(name) ?? []
    const isLink = service !== '' && /^(tcp|udp|sctp):\/\//.test(env[`${service}_PORT`] ?? '')
    return isLink
      ? [
          new RegExp(
            `^${service}_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`,
          ),
        ]
      : []
  })
}

/** What is said about a command that there is none of, or about none at all. */
export function unknownCommand(command: string): ProblemsOutcome {
  const known = Object.keys(COMMANDS)
  if (command === '') return problemsOutcome([{ name: 'whencectl', message: `needs a command: ${known.join(', ')}` }])
  return problemsOutcome([{ name: command, message: unknownMessage('command', command, known) }])
}

/** Also used for options: the unknown name, and its likely meaning. */
function unknownMessage(what: string, name: string, known: readonly string[]): string {
  const meant = closestName(name, known)
  return meant === null
    ? `is not a ${what} that whencectl knows`
    : `is not a ${what} that whencectl knows; did you mean ${meant}?`
}

function problemsOutcome(problems: readonly SettingProblem[]): ProblemsOutcome {
  const lines = problems.map(({ name, message }) => `  ${name} ${message}`)
  return { kind: 'problems', problems, text: ['These settings are wrong:', ...lines, ''].join('\n') }
}

function settingHelp(setting: SettingName): { name: string; placeholder: string; doc: string } {
  const row = rowOf(setting)
  const fallback = row.fallbackDoc ?? (typeof row.fallback === 'string' ? row.fallback : 'none')
  const name = row.option ?? row.env
  const variable = row.option === null ? '' : `${row.env}; `
  return { name, placeholder: row.placeholder, doc: `${row.doc} (${variable}default: ${fallback.replaceAll('`', '')})` }
}

function shownSettings(row: CommandRow, texts: SettingTexts): string {
  const lines = row.settings.map((name) => {
    const { env, isSecret } = rowOf(name)
    const given = texts.get(name)
    if (given === undefined) return `${env}=`
    const shown = isSecret !== true ? given.text : URL.canParse(given.text) ? maskUrl(given.text) : '***'
    return `${env}=${shown}${given.source === 'default' ? '  (default)' : ''}`
  })
  return `${lines.join('\n')}\n`
}
