/** The page of figures and its chart, from what the benchmarks measured last (`bench/results.yaml`). */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Type, type Static } from 'typebox'
import { Ajv } from 'ajv'
import { parse } from 'yaml'

import { code, page, table } from './markdown.ts'

const RESULTS = 'bench/results.yaml'
const ROOT = join(import.meta.dirname, '../..')
/** A longer cell is a text, which belongs elsewhere. */
const CELL_CHARS = 200

const cell = Type.String({ minLength: 1, maxLength: CELL_CHARS })
const Result = Type.Object(
  {
    what: cell,
    goal: Type.Optional(cell),
    measured: cell,
    /** The measured part of the goal: at most 1 if it is reached. */
    share: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    command: cell,
  },
  { additionalProperties: false },
)
const Results = Type.Array(Result, { minItems: 1 })
type Measured = Static<typeof Result>

const INTRO = `Absolute figures depend on the machine; the ratios to bare node:http, which the same run measures, depend on it less. \`make bench\` measures everything, \`npm run -s bench -- http\` one part. It fails if a tool is missing, if an answer is not 2xx, or if there are fewer than three rounds.

Machine: 2 virtual cores (AMD EPYC), 24 GiB, Debian 12, Node 24.21. HTTP: the server on core 0, wrk with 64 connections on core 1, a 900-byte visit, 400 websites and an address for each request, so that no rate limit is measured. Figures are medians of three rounds or more, after 15 s to warm up. wrk waits for each answer, so its p99 says less than that of arrivals that do not wait.`

/** docs/performance.md and the picture in it. */
export function performanceFiles(): readonly { readonly path: string; readonly text: string }[] {
  const results = readResults(readFileSync(join(ROOT, RESULTS), 'utf8'))
  return [
    { path: 'docs/performance.md', text: performancePage(results) },
    { path: 'docs/performance.svg', text: performanceChart(results) },
  ]
}

/** @throws Error that names the entry, if it has a cell that is too long, lacks its date or its command, or has a share without a goal. */
export function readResults(text: string): readonly Measured[] {
  const results: unknown = parse(text)
  const check = new Ajv().compile<Static<typeof Results>>(Results)
  if (!check(results))
    throw new Error(`${RESULTS}${check.errors?.[0]?.instancePath ?? ''} ${check.errors?.[0]?.message ?? ''}`)
  for (const { what, goal, share } of results) {
    if ((goal === undefined) !== (share === undefined))
      throw new Error(`${RESULTS}: ${what}: a goal needs a share, and a share a goal`)
  }
  return results
}

function performancePage(results: readonly Measured[]): string {
  const rows = results.map(({ what, goal = '', measured, share, date, command }) => [
    what,
    goal,
    isMissed(share) ? `**not reached**: ${measured}` : measured,
    date,
    code(command),
  ])
  return page('Performance', RESULTS, [
    INTRO,
    '![Each figure as a part of its goal](performance.svg)',
    table(['What', 'Goal', 'Measured', 'Date', 'Command'], rows),
  ])
}

function isMissed(share: number | undefined): boolean {
  return share !== undefined && share > 1
}

const ROW = 18
const LABELS = 430
/** Pixels of a figure that is exactly its goal; longer bars end at three times that. */
const GOAL = 140
const MOST = 3
const TOP = 28

/** One bar for each figure with a goal, and a line where the goal is. */
export function performanceChart(results: readonly Measured[]): string {
  const shown = results.flatMap(({ what, share }) => (share === undefined ? [] : [{ what, share }]))
  const height = TOP + shown.length * ROW + 8
  const width = LABELS + GOAL * MOST + 60
  const bars = shown.map(({ what, share }, index) => {
    const y = TOP + index * ROW
    const length = Math.round(GOAL * Math.min(share, MOST))
    const label = what.length > 66 ? `${what.slice(0, 65)}…` : what
    return [
      `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${escaped(label.replaceAll('`', ''))}</text>`,
      `<rect x="${LABELS}" y="${y + 2}" width="${length}" height="${ROW - 6}" fill="${isMissed(share) ? '#c0392b' : '#2e7d5b'}"/>`,
      `<text x="${LABELS + Math.max(length, GOAL) + 5}" y="${y + 12}">${share}</text>`,
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#222" role="img" aria-label="Each figure as a part of its goal">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${LABELS + GOAL}" y="14" text-anchor="middle">goal = 1</text>
${bars.join('\n')}
<line x1="${LABELS + GOAL}" y1="20" x2="${LABELS + GOAL}" y2="${height - 6}" stroke="#222" stroke-dasharray="3 3"/>
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
