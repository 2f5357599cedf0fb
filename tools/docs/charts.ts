/** Renders the generated parts of the charts: their copies of the definitions, and the page of values. */

import { parse } from 'yaml'

import { crdFiles } from './kubernetes.ts'
import { code, page, table } from './markdown.ts'
import { chartSchema, chartValues } from './providers.ts'

/** The part of a schema that the page of values uses. */
export interface ValueSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, ValueSchema>>
}

export interface ValueRow {
  /** With dots, as for `--set`. */
  readonly path: string
  readonly schema: ValueSchema
  readonly fallback: unknown
}

const CHARTS = ['charts/whence', 'charts/whence-crds']

/** Charts contain copies of the definitions: helm packs nothing from outside. */
export function chartCrdFiles(): readonly { readonly path: string; readonly text: string }[] {
  return CHARTS.flatMap((chart) => crdFiles().map(({ path, text }) => ({ path: `${chart}/files/${path}`, text })))
}

/** Every value that contains no others, in the order of the schema. */
export function valueRows(): readonly ValueRow[] {
  return rowsOf(JSON.parse(chartSchema()) as ValueSchema, parse(chartValues()), '')
}

function rowsOf(schema: ValueSchema, values: unknown, path: string): readonly ValueRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): readonly ValueRow[] => {
    const below = path === '' ? name : `${path}.${name}`
    const value = (values as Readonly<Record<string, unknown>> | undefined)?.[name]
    const hasOwnRows = inner.properties !== undefined
    return hasOwnRows ? rowsOf(inner, value, below) : [{ path: below, schema: inner, fallback: value }]
  })
}

export function chartValuesPage(): string {
  const rows = valueRows()
    .filter(({ path }) => path !== 'global')
    .map(({ path, schema, fallback }) => [
      code(path),
      fallback === undefined || fallback === '' ? '' : code(JSON.stringify(fallback)),
      [schema.description ?? '', schema.enum === undefined ? '' : `One of ${schema.enum.map(code).join(', ')}.`]
        .filter((part) => part !== '')
        .join(' '),
    ])
  return page('Values of the chart', 'charts/whence/values.schema.json and values.yaml', [
    'For `helm install whence charts/whence -f values.yaml`. What is not listed is refused. Which of them an installation needs: ' +
      '[kubernetes.md](kubernetes.md).',
    table(['Value', 'Default', 'Meaning'], rows),
  ])
}
