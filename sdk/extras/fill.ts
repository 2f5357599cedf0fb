/** Puts a handoff token into an install command, if that cannot change what the command does otherwise. */

import { COMMAND_CHARS } from '../core/limits.ts'
import type { SimpleCommand, Word } from './shell-words.ts'
import { readCommands } from './shell-words.ts'

/** The placeholder that a token replaces. */
const PLACEHOLDER = '{{handoff}}'
/** The variable from which the hook reads the token, unless the service has another brand. */
const VARIABLE = 'WHENCE_HANDOFF'

const SHELL = /^(?:\S*\/)?(?:ba|da|z|k|mk|a)?sh$/
const INTERPRETER = /^(?:\S*\/)?(?:python[\d.]*|node|ruby|perl|php)$/
const SCRIPT = /^\S*\/\S*\.(?:sh|bash|run)$/
/**
 * Commands of package managers that run the package's own code with their environment: its install script, or the
 * program itself. pip, pipx install, uv tool install, cargo, gem, pnpm add and bun add run no code of the vendor, so a
 * token would have no effect.
 */
const RUNS_PACKAGE: ReadonlyMap<string, RegExp> = new Map([
  ['npm', /^(?:i|install|add|exec|x|create|init)\b/],
  ['npx', /^/],
  ['yarn', /^(?:global add|add|dlx|create)\b/],
  ['pnpm', /^(?:dlx|create)\b/],
  ['pnpx', /^/],
  ['bun', /^(?:x|create)\b/],
  ['bunx', /^/],
  ['deno', /^run\b/],
  ['pipx', /^run\b/],
  ['uv', /^tool run\b/],
  ['uvx', /^/],
])
const WEB_ADDRESS = /\bhttps?:\/\/[^\s"'`)<>|;&]+/g
const HOOK_EVENT = /^(?:install_started|install_completed|first_run)$/

export interface FillOptions {
  /** Name of the environment variable; the service's brand in capitals, then `_HANDOFF`. */
  readonly variable?: string | undefined
  /** True if the visitor's own shell has no `env`. */
  readonly isWindows?: boolean | undefined
  /**
   * Whether a script's address is the vendor's own. Given for commands that were not marked one by one: then only
   * scripts at such addresses, and the service's hook, get a token. Without it every command counts as the vendor's.
   */
  readonly isOwnScript?: ((url: string) => boolean) | undefined
}

/**
 * The filled command. Undefined if no place is known to be safe, if a token is in it already, or if the result would be
 * too long for an install command.
 *
 * In this order: a `{{handoff}}` is replaced; the service's own hook gets `--handoff TOKEN` after its last word; a
 * shell that runs any other script, or a package manager, gets the token as a variable, which no installer can mistake
 * for an argument.
 */
export function fillCommand(text: string, token: string, options: FillOptions = {}): string | undefined {
  const variable = options.variable ?? VARIABLE
  const filled = text.includes(PLACEHOLDER)
    ? text.replaceAll(PLACEHOLDER, token)
    : placed(text, token, variable, options)
  return filled && filled.length <= COMMAND_CHARS ? filled : undefined
}

/** The command without the placeholder, and without the option or variable whose value it is. */
export function withoutPlaceholder(text: string): string {
  return text.replace(/[ \t]*(?:--?[\w-]+[ =]|\w+=)?["']?\{\{handoff\}\}["']?/g, '').trimStart()
}

function placed(text: string, token: string, variable: string, options: FillOptions): string | undefined {
  if (text.length > COMMAND_CHARS || text.includes('wht_') || text.includes(`${variable}=`)) return undefined
  for (const command of readCommands(text) ?? []) {
    const place = placeIn(command, `${variable}=${token} `, token, options)
    if (place) return text.slice(0, place.at) + place.inserted + text.slice(place.at)
  }
  return undefined
}

interface TokenPlace {
  readonly at: number
  readonly inserted: string
}

function placeIn(
  command: SimpleCommand,
  assignment: string,
  token: string,
  options: FillOptions,
): TokenPlace | undefined {
  const { isWindows, isOwnScript } = options
  const name = programName(command)
  const shape = name && commandShape(command, name)
  if (!shape || (isOwnScript && !commandAddresses(command).some(isOwnScript))) return undefined
  if (shape === 'hook') return { at: lastEnd(command), inserted: ` --handoff ${token}` }
  if (shape === 'package' && isWindows) return undefined
  // csh, tcsh and nushell know no `NAME=value command`; sudo and doas start with an empty environment, but pass on what env sets.
  return { at: name.word.start, inserted: `env ${assignment}` }
}

/** The word that names the program, after prompts, assignments and programs that run others. */
interface Name {
  readonly word: Word
  readonly index: number
}

function programName({ words }: SimpleCommand): Name | undefined {
  for (let index = 0; index < words.length; index++) {
    const word = words[index]
    if (!word) return undefined
    if (/^(?:sudo|doas)$/.test(word.text)) {
      // Options of sudo, some with a value.
      while (words[index + 1]?.text.startsWith('-')) index += /^-[ugpCTh]$/.test(words[index + 1]?.text ?? '') ? 2 : 1
    } else if (!/^(?:[$%❯➜]|env|\w+=.*)$/s.test(word.text)) return { word, index }
  }
  return undefined
}

function commandShape(
  { words, feeder }: SimpleCommand,
  { word, index }: Name,
): 'hook' | 'script' | 'package' | undefined {
  const operands = words.slice(index + 1)
  if (SHELL.test(word.text)) {
    // A piped shell reads its arguments only after -s.
    const takesArguments = feeder === undefined || operands.some(({ text }) => /^-\w*s$/.test(text))
    if (takesArguments && operands.some(({ text }) => HOOK_EVENT.test(text))) return 'hook'
    return feeder || operands.length ? 'script' : undefined
  }
  if (SCRIPT.test(word.text) || (feeder && INTERPRETER.test(word.text))) return 'script'
  return runsPackage(word, operands) ? 'package' : undefined
}

function runsPackage({ text: manager }: Word, operands: readonly Word[]): boolean {
  const called = operands.map(({ text }) => text).filter((text) => !text.startsWith('-'))
  return operands.length > 0 && !!RUNS_PACKAGE.get(manager)?.test(called.join(' '))
}

/** The web addresses in a command and in what feeds it, including those inside a substitution. */
function commandAddresses({ words, feeder }: SimpleCommand): string[] {
  const own = words.flatMap(({ text }) => text.match(WEB_ADDRESS) ?? [])
  return feeder ? [...commandAddresses(feeder), ...own] : own
}

const lastEnd = ({ words }: SimpleCommand) => words[words.length - 1]?.end ?? 0
