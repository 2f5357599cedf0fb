/** What `whencectl init` asks: each question with its flag, what is taken if nothing is said, and how an answer is read. */

import {
  COMMAND_PLACES,
  INSTALL_TOOLS,
  MATCHING_CHOICES,
  type CommandPlace,
  type InstallTool,
  type Matching,
} from '../../../domain/onboarding/choices.ts'
import { EXAMPLE_COMMANDS, MATCHING_WORDS, PLACE_TITLES, TOOL_TITLES } from '../../../domain/onboarding/set-up-words.ts'
import { typedOrigin } from '../../../domain/onboarding/typed-origin.ts'
import type { Parsed } from '../../../domain/origin.ts'
import { isTimeZone, UTC_ZONE } from '../../../domain/time-zones.ts'
import { displayName } from '../../../domain/resources/resource-fields.ts'
import { firstFinding } from '../../../domain/schema/check-schema.ts'

/** All answers. */
export interface InitAnswers {
  readonly organization: string
  readonly timeZone: string
  /** As the service compares it. */
  readonly origin: string
  readonly place: CommandPlace
  readonly tool: InstallTool
  readonly matching: Matching
  readonly command: string
}

export interface InitQuestion<T> {
  readonly flag: string
  readonly text: string
  /** Shown above it. */
  readonly lines: readonly string[]
  /** Taken for an empty answer; null: there must be one. */
  readonly fallback: string | null
  /** Its message completes a sentence that begins with the flag. */
  readonly read: (answer: string) => Parsed<T>
}

export const ORGANIZATION: InitQuestion<string> = {
  flag: '--organization',
  text: 'What is your organisation called?',
  lines: [],
  fallback: null,
  read(answer) {
    const finding = answer === '' ? { message: 'must not be empty' } : firstFinding(displayName, answer)
    return finding === null ? { ok: true, value: answer } : refused(finding.message)
  },
}

export const TIME_ZONE: InitQuestion<string> = {
  flag: '--time-zone',
  text: 'Which time zone decides its days?',
  lines: [],
  fallback: Intl.DateTimeFormat().resolvedOptions().timeZone || UTC_ZONE,
  read: (answer) =>
    isTimeZone(answer)
      ? { ok: true, value: answer }
      : refused('must be the name of a time zone, such as Europe/Berlin'),
}

export const ORIGIN: InitQuestion<string> = {
  flag: '--origin',
  text: 'Where is your website?',
  lines: ['The address at which people find your install command, such as https://acme.dev.'],
  fallback: null,
  read(answer) {
    const origin = typedOrigin(answer)
    return origin === null
      ? refused('must be an address that begins with https://, or http://localhost')
      : { ok: true, value: origin }
  },
}

export const PLACE: InitQuestion<CommandPlace> = {
  flag: '--place',
  text: 'Where does your install command stand?',
  lines: numbered(COMMAND_PLACES, (place) => PLACE_TITLES[place]),
  fallback: null,
  read: choiceOf(COMMAND_PLACES),
}

export const TOOL: InitQuestion<InstallTool> = {
  flag: '--tool',
  text: 'How do people install?',
  lines: numbered(INSTALL_TOOLS, (tool) => TOOL_TITLES[tool]),
  fallback: null,
  read: choiceOf(INSTALL_TOOLS),
}

/** Nothing is taken if nothing is said: markers need what tokens do not. */
export const MATCHING: InitQuestion<Matching> = {
  flag: '--matching',
  text: 'How are installs tied to visits?',
  lines: MATCHING_CHOICES.flatMap((choice, index) => {
    const { title, gives, needs } = MATCHING_WORDS[choice]
    return [`  ${index + 1}  ${title}. ${gives}`, ...needs.map(({ of, sentence }) => `       ${of}: ${sentence}`)]
  }),
  fallback: null,
  read: choiceOf(MATCHING_CHOICES),
}

export function commandQuestion(tool: InstallTool): InitQuestion<string> {
  return {
    flag: '--command',
    text: 'Which command do people run?',
    lines: ['As it stands on the page, in one line.'],
    fallback: EXAMPLE_COMMANDS[tool],
    read: (answer) => (/[\r\n]/.test(answer) ? refused('must be one line') : { ok: true, value: answer }),
  }
}

function refused(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why }
}

function numbered<C extends string>(choices: readonly C[], titleOf: (choice: C) => string): readonly string[] {
  return choices.map((choice, index) => `  ${index + 1}  ${titleOf(choice)}`)
}

/** By number or by name, whose letters may be small. */
function choiceOf<C extends string>(choices: readonly C[]): (answer: string) => Parsed<C> {
  return (answer) => {
    const chosen = choices.find((choice, index) =>
      [String(index + 1), choice.toLowerCase()].includes(answer.toLowerCase()),
    )
    return chosen === undefined
      ? refused(`must be one of ${choices.join(', ')}, or a number from 1 to ${choices.length}`)
      : { ok: true, value: chosen }
  }
}
