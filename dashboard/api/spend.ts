/** Routes of ad spend: what it cost to bring a visit and an install, and the files that amounts come from. */

import { Type } from 'typebox'

import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { ROLE_ACTIONS } from '../../domain/people/roles.ts'
import { SPEND_COLUMNS } from '../../domain/spend/spend-form.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { FIGURES_OF_PERIOD, NAMED_PERIOD_PARAMETERS } from './periods.ts'
import type { RouteRow } from './route.ts'
import { maybe, NUMBER, TEXT, textParameter, TIME, WEBSITE_PARAMETER } from './shapes.ts'

const ORGANIZATION = '/api/organizations/:organization'
const MEGABYTES = LIMITS.spendFileBytes / 1024 / 1024
const HEADER_CHARS = 1_000

const AMOUNT = Type.Number({ description: 'In the smallest unit of the currency.' })
const DAY = Type.String({ description: 'Such as `2026-11-30`.' })
const CURRENCY = Type.String({ description: 'Code of ISO 4217.' })
const SPEND = {
  source: TEXT,
  campaign: Type.String({ description: 'Empty: of none; by source, of all.' }),
  currency: CURRENCY,
  amount: AMOUNT,
}
const NOT_ROUNDED = 'In the smallest unit, not rounded; null if there is none.'

const IMPORT = Type.Object(
  {
    id: TEXT,
    website: TEXT,
    importedAt: TIME,
    importedBy: Type.String({ description: 'The person; empty if it came from a command line.' }),
    fileName: TEXT,
    rows: NUMBER,
    firstDay: DAY,
    lastDay: DAY,
    totals: Type.Array(Type.Object({ currency: CURRENCY, places: NUMBER, amount: AMOUNT })),
  },
  { $id: 'SpendImport' },
)

const CURRENCY_SPEND = Type.Object(
  {
    currency: CURRENCY,
    places: Type.Number({ description: 'Decimal places of its amounts.' }),
    amount: Type.Number({ description: 'All of these days, in the smallest unit.' }),
    joined: Type.Number({ description: 'Of `rows`.' }),
    notJoined: Type.Number({ description: 'Of `notJoined`.' }),
    other: Type.Number({ description: 'Of what is not listed, since there is too much.' }),
  },
  { $id: 'CurrencySpend' },
)

export const SPEND_ROUTES = {
  spend: {
    method: 'GET',
    path: `${ORGANIZATION}/spend`,
    needs: 'Viewer',
    rate: 'read',
    summary:
      "Ad spend of the whole days of a period beside the visits and installs of exactly its source and campaign. A day of an ad account is compared with the same day of the organisation's time zone. Currencies are neither added up nor converted.",
    query: {
      website: WEBSITE_PARAMETER,
      by: oneOf(['campaign', 'source'], 'By source and campaign together, or by source alone; `campaign` if absent.'),
      ...NAMED_PERIOD_PARAMETERS,
    },
    answers: {
      200: Type.Object({
        ...FIGURES_OF_PERIOD,
        by: oneOf(['campaign', 'source']),
        days: maybe(
          Type.Object({ first: DAY, last: DAY, since: TIME, until: TIME }),
          'The days that lie whole within the period; null if none does, and then nothing is counted.',
        ),
        currencies: Type.Array(CURRENCY_SPEND),
        rows: Type.Array(
          Type.Object({
            ...SPEND,
            visits: NUMBER,
            installs: NUMBER,
            perVisit: maybe(NUMBER, NOT_ROUNDED),
            perInstall: maybe(NUMBER, NOT_ROUNDED),
          }),
          {
            description:
              'The greatest amounts first. What has two currencies has a row in each, with the same visits and installs.',
          },
        ),
        notJoined: Type.Array(Type.Object(SPEND), {
          description: 'Spend of which no visit and no install has the source and campaign.',
        }),
      }),
    },
  },
  spendImports: {
    method: 'GET',
    path: `${ORGANIZATION}/spend/imports`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Files of ad spend that were imported and not removed, newest first.',
    query: { website: WEBSITE_PARAMETER },
    answers: { 200: Type.Object({ imports: Type.Array(IMPORT) }) },
  },
  importSpend: {
    method: 'POST',
    path: `${ORGANIZATION}/websites/:website/spend`,
    needs: ROLE_ACTIONS.importSpend.least,
    rate: 'write',
    summary: `Import a CSV file of ad spend of at most ${MEGABYTES} MB: all of it or nothing. Each day and source in it replaces what was imported of them before. One at a time for an organisation, ${REPLAY_RULES.spend_imports.limit} an hour.`,
    refuses: ['invalid_csv', 'import_running'],
    upload: { type: 'text/csv', mostBytes: LIMITS.spendFileBytes },
    query: {
      file: textParameter('Name of the file, to be shown.', LIMITS.spendFileNameChars),
      columns: textParameter(
        `Headers of the columns that have other names than ${SPEND_COLUMNS.join(', ')}: pairs such as \`day=Date,amount=Cost\`.`,
        HEADER_CHARS,
      ),
      source: textParameter('The source of all rows, in place of a column.', LIMITS.utmChars),
      currency: textParameter('The currency of all rows, in place of a column.', 3),
    },
    answers: { 201: IMPORT },
  },
  removeSpend: {
    method: 'DELETE',
    path: `${ORGANIZATION}/spend/imports/:import`,
    needs: ROLE_ACTIONS.importSpend.least,
    rate: 'write',
    summary: 'Remove an import: what it had replaced counts again.',
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
