/** Which columns of a CSV file hold what of ad spend, as a person says it. */

import { recordOf } from '../typed-keys.ts'
import { isOneOf } from '../guards.ts'
import { CsvReader } from './csv-reader.ts'
import { wrongCurrency, wrongSource } from './spend-texts.ts'

/** What each row of a file says, in the order of the documentation. */
export const SPEND_COLUMNS = ['day', 'source', 'campaign', 'amount', 'currency'] as const
export type SpendColumn = (typeof SPEND_COLUMNS)[number]

export interface SpendForm {
  /** The header of the column that holds each of them. */
  readonly headers: Readonly<Record<SpendColumn, string>>
  /** What all rows have in common; a column of the file is not read then. */
  readonly fixed: { readonly source?: string; readonly currency?: string }
}

type ReadForm =
  | { readonly ok: true; readonly form: SpendForm }
  | { readonly ok: false; readonly wrong: 'columns' | 'source' | 'currency'; readonly message: string }

const isColumn = isOneOf(SPEND_COLUMNS)

/**
 * The form of a file whose columns are named `day`, `source` and so on, unless `columns` says otherwise: pairs such as `day=Date,amount=Cost`, those
 * with a comma in quotes.
 */
export function spendForm(columns: string, fixed: SpendForm['fixed']): ReadForm {
  const wrongFixed = wrongIn(fixed)
  if (wrongFixed !== null) return wrongFixed
  const headers = new Map<SpendColumn, string>()
  const refused = (message: string): ReadForm => ({ ok: false, wrong: 'columns', message })
  for (const pair of pairsOf(columns)) {
    const [name = '', ...rest] = pair.split('=')
    const header = rest.join('=')
    if (!isColumn(name)) return refused(`must name ${SPEND_COLUMNS.join(', ')}, such as day=Date`)
    if (header === '') return refused(`must give ${name} the header of a column`)
    if (headers.has(name)) return refused(`must name ${name} once`)
    headers.set(name, header)
  }
  return { ok: true, form: { headers: recordOf(SPEND_COLUMNS, (name) => headers.get(name) ?? name), fixed } }
}

function wrongIn({ source, currency }: SpendForm['fixed']): ReadForm | null {
  const ofSource = source === undefined ? null : wrongSource(source)
  if (ofSource !== null) return { ok: false, wrong: 'source', message: ofSource }
  const ofCurrency = currency === undefined ? null : wrongCurrency(currency)
  return ofCurrency === null ? null : { ok: false, wrong: 'currency', message: ofCurrency }
}

function pairsOf(columns: string): readonly string[] {
  const reader = new CsvReader()
  const records = [...reader.read(columns), ...reader.end()]
  return records.flatMap(({ fields }) => fields)
}
