/** Reads a command line's words into options, flags and arguments, and reports every word it cannot place. */

import { closestName } from '../../domain/schema/closest-name.ts'
import type { CommandRow } from './commands.ts'
import { SETTINGS } from './table.ts'
import type { SettingRow } from './table.ts'

interface GivenArguments {
  /** Values of settings by option. */
  readonly options: ReadonlyMap<string, string>
  /** The command's own flags; a switch holds an empty text. */
  readonly flags: ReadonlyMap<string, string>
  readonly positionals: readonly string[]
  /** What to do instead of running. */
  readonly wish: 'help' | 'version' | 'check' | null
  readonly problems: readonly { readonly name: string; readonly message: string }[]
}

const WISHES: Readonly<Record<string, GivenArguments['wish']>> = {
  '--help': 'help',
  '-h': 'help',
  '--version': 'version',
  '--check': 'check',
}

/** Takes `--name value` and `--name=value`; after `--` everything is an argument. */
export function readArguments(argv: readonly string[], command: CommandRow): GivenArguments {
  const reading: ArgumentsInProgress = {
    options: new Map(),
    flags: new Map(),
    positionals: [],
    problems: [],
    wish: null,
  }
  const words = [...argv]
  let isOver = false
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--' && !isOver) isOver = true
    else if (isOver || !word.startsWith('-') || word === '-') reading.positionals.push(word)
    else readOption(word, words, command, reading)
  }
  checkPositionals(command, reading)
  return reading
}

interface ArgumentsInProgress {
  readonly options: Map<string, string>
  readonly flags: Map<string, string>
  readonly positionals: string[]
  readonly problems: { readonly name: string; readonly message: string }[]
  wish: GivenArguments['wish']
}

function readOption(word: string, rest: string[], command: CommandRow, reading: ArgumentsInProgress): void {
  const equals = word.indexOf('=')
  const name = equals < 0 ? word : word.slice(0, equals)
  const value = equals < 0 ? null : word.slice(equals + 1)
  const wish = WISHES[name]
  const target = namedOption(name, command)
  if (wish !== undefined) {
    // Help and version take precedence over a check, in any order.
    reading.wish = wish === 'check' ? (reading.wish ?? wish) : wish
  } else if (target !== null) {
    takeOption(target, value, rest, reading)
  } else {
    reading.problems.push({ name, message: unknownOption(name, command) })
    // What follows is most likely its value; one mistake should give one problem.
    if (value === null && command.positionals.length === 0) nextValue(rest)
  }
}

interface Target {
  readonly name: string
  readonly isSetting: boolean
  readonly takesValue: boolean
}

function takeOption(target: Target, value: string | null, rest: string[], reading: ArgumentsInProgress): void {
  const { name } = target
  const into = target.isSetting ? reading.options : reading.flags
  if (into.has(name)) reading.problems.push({ name, message: 'is given twice' })
  if (target.takesValue) takeValue(name, value ?? nextValue(rest), into, reading)
  else if (value === null) into.set(name, '')
  else reading.problems.push({ name, message: 'takes no value' })
}

function takeValue(
  name: string,
  value: string | undefined,
  into: Map<string, string>,
  reading: ArgumentsInProgress,
): void {
  if (value === undefined || value === '') reading.problems.push({ name, message: 'needs a value' })
  else into.set(name, value)
}

/** A word that begins with a dash is the next option, not a value. */
function nextValue(rest: string[]): string | undefined {
  return rest[0] === undefined || /^--?[a-z]/.test(rest[0]) ? undefined : rest.shift()
}

function namedOption(name: string, command: CommandRow): Target | null {
  const flag = Object.hasOwn(command.flags, name) ? command.flags[name] : undefined
  if (flag !== undefined) return { name, isSetting: false, takesValue: flag.placeholder !== null }
  return settingOptions(command).includes(name) ? { name, isSetting: true, takesValue: true } : null
}

function settingOptions(command: CommandRow): readonly string[] {
  const rows: readonly SettingRow<unknown>[] = command.settings.map((name) => SETTINGS[name])
  return rows.flatMap((row) => (row.option === null ? [] : [row.option]))
}

function unknownOption(name: string, command: CommandRow): string {
  const options = [...Object.keys(command.flags), ...settingOptions(command), ...Object.keys(WISHES)]
  const meant = closestName(name, options)
  return meant === null
    ? 'is not an option of this command'
    : `is not an option of this command; did you mean ${meant}?`
}

function checkPositionals(command: CommandRow, { positionals, problems }: ArgumentsInProgress): void {
  command.positionals.forEach((name, index) => {
    if (positionals[index] === undefined && !name.startsWith('[')) problems.push({ name, message: 'is missing' })
  })
  for (const surplus of positionals.slice(command.positionals.length)) {
    problems.push({ name: surplus, message: 'is one argument too many' })
  }
}
