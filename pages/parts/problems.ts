/** Messages for the API's refusals. A code without a message is shown as it is. */

import { ApiProblem } from '../data/ask.ts'

const SENTENCES: Readonly<Record<string, string>> = {
  unreachable: 'The service cannot be reached. Is your connection up?',
  unauthenticated: 'You are signed out. Sign in again to go on.',
  forbidden: 'Your role does not allow this.',
  not_found: 'It is gone, or it belongs to an organisation that you do not.',
  conflict: 'Somebody else changed this meanwhile. Load it again and repeat your change.',
  already_member: 'This address belongs here already, or is invited.',
  last_owner: 'An organisation keeps at least one owner. Make somebody else an owner first.',
  invitation_over: 'This invitation is over. Ask for a new one.',
  person_limit: 'This person belongs to as many organisations as one person may.',
  invalid_csv: 'Nothing of the file was imported:',
  import_running: 'Another file is being imported. Try again in a moment.',
  body_too_large: 'This is too large: a file may have at most 5 MB. Divide it by days.',
  unavailable: 'A part of the service is unavailable. Nothing was changed; try again in a moment.',
  internal: 'The service made a mistake. Its log knows more.',
}

type Detail = ApiProblem['detail']

/** Codes whose messages need details of the answer. */
const DETAILED: Readonly<Record<string, (detail: Detail) => string>> = {
  rate_limited: (detail) => `That was too fast. Try again in ${detailText(detail['retryAfter'], '1')} seconds.`,
  managed_elsewhere: managerSentence,
  plan_limit: planSentence,
  plan_required: planSentence,
  invalid_field: ({ field, message }) =>
    `${detailText(field).replace(/^\/(spec\/)?/, '')}: ${withoutField(detailText(message))}`,
}

export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error)
  const { code, detail } = error
  return DETAILED[code]?.(detail) ?? SENTENCES[code] ?? `The service refused this: ${code}.`
}

/** If there is an object, it is one that needs what was to be changed. */
function managerSentence(detail: Detail): string {
  const manager = detailText(detail['manager'], 'somebody else')
  const object = detailText(detail['object'])
  if (object === '') return `This is managed by ${manager}: change it there.`
  return `${object} needs this, and is managed by ${manager}: change that first.`
}

/** The message also says what whoever runs the service can do about it. */
function planSentence({ plan, limit, used, allowed, message }: Detail): string {
  if (typeof message === 'string') return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
  return `The plan ${detailText(plan)} allows ${detailText(allowed)} ${detailText(limit)}; ${detailText(used)} are in use.`
}

/** The compiler's messages begin with the field, for lists; beside the field itself that would be redundant. */
export function withoutField(message: string): string {
  return message.replace(/^spec(?:\.\w+|\[\d+\])+: /, '')
}

function detailText(value: unknown, otherwise = ''): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise
}
