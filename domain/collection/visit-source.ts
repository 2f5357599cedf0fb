/** The columns that say where a visit came from: listed and exported with an install, and shown on its page. */

import { keysOf } from '../typed-keys.ts'

interface SourceColumn {
  readonly title: string
  /** Its column of a CSV file. */
  readonly csv: string
  readonly isAddress?: true
}

/** By column of the table of visits. */
export const SOURCE_COLUMNS = {
  page_url: { title: 'Page', csv: 'page_url', isAddress: true },
  landing_page: { title: 'Landing page', csv: 'landing_page', isAddress: true },
  source_referrer: { title: 'Referrer', csv: 'referrer', isAddress: true },
  source: { title: 'Source', csv: 'source' },
  medium: { title: 'Medium', csv: 'medium' },
  channel: { title: 'Channel', csv: 'channel' },
  campaign: { title: 'Campaign', csv: 'campaign' },
  utm_term: { title: 'Term', csv: 'utm_term' },
  utm_content: { title: 'Content', csv: 'utm_content' },
  utm_id: { title: 'Campaign ID', csv: 'utm_id' },
  ref: { title: 'Ref', csv: 'ref' },
  click: { title: 'Ad click', csv: 'click' },
} as const satisfies Readonly<Record<string, SourceColumn>>

type SourceColumnName = keyof typeof SOURCE_COLUMNS
export type VisitSource = { readonly [C in SourceColumnName]: string }

export const SOURCE_COLUMN_NAMES = keysOf(SOURCE_COLUMNS)

/** Their labels, in order. */
export function sourceFacts(
  visit: VisitSource,
): readonly { readonly title: string; readonly value: string; readonly isAddress: boolean }[] {
  return SOURCE_COLUMN_NAMES.map((name) => {
    const { title, isAddress }: SourceColumn = SOURCE_COLUMNS[name]
    return { title, isAddress: isAddress === true, value: visit[name] }
  })
}
