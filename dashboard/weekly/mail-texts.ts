/** The weekly mail: plain text, and a document that mail programs show. Nothing in it is loaded from anywhere, and no link says who followed it. */

import type { WeeklySummary } from '../../domain/people/weekly-summary.ts'
import type { Mail } from '../mail/mailer.ts'
import { plainLine } from '../mail/plain-line.ts'
import { mailDocument, type WeeklyDocument } from './mail-document.ts'
import { mailCount, weekWords, type WeekNumber } from './mail-words.ts'

interface MailSurroundings {
  readonly organization: { readonly id: string; readonly displayName: string }
  readonly baseUrl: string
  /** The service's name as people read it. */
  readonly brand: string
  readonly endUrl: string
}

export function weeklyMail(
  to: string,
  summary: WeeklySummary,
  { organization, baseUrl, brand, endUrl }: MailSurroundings,
): Mail {
  const { from, to: last, now } = summary
  const name = plainLine(organization.displayName || organization.id)
  const words = weekWords(summary)
  const overviewUrl = `${baseUrl}/app/${encodeURIComponent(organization.id)}/overview?from=${from}&to=${last}`
  const parts = { name, brand, words, overviewUrl, endUrl }
  const installs = `${mailCount(now.installs)} ${now.installs === 1 ? 'install' : 'installs'}`
  return {
    to,
    subject: `${name}: ${installs} from ${words.period}`,
    text: plainForm(parts),
    regular: { html: mailDocument(parts), endUrl },
  }
}

function plainForm({ name, brand, words, overviewUrl, endUrl }: WeeklyDocument): string {
  const changes = words.changes.map(({ title, value, text }) => `- ${title} ${value}: ${text}`)
  return [
    `${name}: ${words.period}`,
    ...(words.compared === '' ? [] : [words.compared]),
    '',
    ...words.numbers.map(numberLine),
    '',
    ...(changes.length === 0 ? [] : ['What changed most', ...changes, '']),
    ...words.notes,
    '',
    `The Overview of this week: ${overviewUrl}`,
    '',
    `You get this mail from ${brand} every Monday, because it is turned on for you in ${name}.`,
    `To end it: ${endUrl}`,
    '',
  ].join('\n')
}

function numberLine({ title, now, beside, before, change }: WeekNumber): string {
  const more = [beside, before === '' ? '' : `${before} before`, change].filter((text) => text !== '')
  return `${title}: ${now}${more.length === 0 ? '' : ` (${more.join(', ')})`}`
}
