/** Ad spend: what it cost to bring a visit and an install, and the files that amounts come from. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { isNumber, isText, listOf, shapeOf } from '../../domain/guards.ts'
import { ApiProblem, ask, path, query } from '../data/ask.ts'
import { dateParameters, figureFilters, type FigureFilters } from '../data/period.ts'

export type SpendFigures = JsonFrom<'spend'>
export type SpendLine = SpendFigures['rows'][number]
export type CurrencyFigures = SpendFigures['currencies'][number]
export type SpendImport = JsonFrom<'spendImports'>['imports'][number]

export interface SpendFilters extends FigureFilters {
  /** By source and campaign if absent. */
  readonly by?: 'source'
}

export function spendFilters(search: Readonly<Record<string, unknown>>): SpendFilters {
  return { ...figureFilters(search), ...(search['by'] === 'source' ? { by: 'source' } : {}) }
}

const SPEND_KEY = 'spend'

/** Of all questions about an organisation's spend. */
export function spendKey(organization: string): readonly string[] {
  return [SPEND_KEY, organization]
}

/** Previous figures stay on the page while new ones load, so that it does not jump. */
export function spendQuery(organization: string, filters: SpendFilters) {
  const address = spendPath(organization, filters)
  return queryOptions({
    queryKey: [...spendKey(organization), address],
    queryFn: ({ signal }) => ask<SpendFigures>(address, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** Where the same figures are read as JSON. */
export function spendPath(organization: string, filters: SpendFilters): string {
  const { website, by } = filters
  return (
    path('/api/organizations/:organization/spend', { organization }) +
    query({ ...dateParameters(filters), website, by })
  )
}

export function spendImportsQuery(organization: string, { website }: SpendFilters) {
  const address = path('/api/organizations/:organization/spend/imports', { organization }) + query({ website })
  return queryOptions({
    queryKey: [...spendKey(organization), address],
    queryFn: ({ signal }) => ask<JsonFrom<'spendImports'>>(address, { signal }).then(({ imports }) => imports),
  })
}

export interface SpendUpload {
  readonly website: string
  readonly file: File
  /** Empty: the columns have the names of the documentation. */
  readonly columns: string
  /** Empty: the file has a column for it. */
  readonly source: string
  readonly currency: string
}

export function sendSpend(organization: string, { website, file, ...form }: SpendUpload): Promise<SpendImport> {
  const given = Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ''))
  const address = path('/api/organizations/:organization/websites/:website/spend', { organization, website })
  return ask(address + query({ file: file.name, ...given }), { method: 'POST', file })
}

export function sendSpendRemoval(organization: string, id: string): Promise<unknown> {
  return ask(path('/api/organizations/:organization/spend/imports/:id', { organization, id }), { method: 'DELETE' })
}

export interface FileProblem {
  readonly line: number
  readonly column: string
  readonly message: string
}

const areProblems = listOf(shapeOf<FileProblem>({ line: isNumber, column: isText, message: isText }))

/** What is wrong with a file, if that is why it was refused. */
export function problemsOf(error: unknown): readonly FileProblem[] {
  const problems = error instanceof ApiProblem ? error.detail['problems'] : undefined
  return areProblems(problems) ? problems : []
}
