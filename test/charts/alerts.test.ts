/** The chart's alerts in Prometheus itself: each fires on what it is about, and neither on less nor on another installation's. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'
import { stringify } from 'yaml'

import { kubeTools } from '../../fixtures/engines/kube.ts'
import { CASES, type AlertCase } from './support/alert-cases.ts'
import { render, type KubeManifest } from './support/render.ts'

const run = promisify(execFile)
/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000
const OURS = 'job="w-whence-metrics",namespace="acme"'
const ANOTHER = 'job="x-whence-metrics",namespace="other"'
const MINUTES = 120

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<string, string>>
}

describe("the chart's alerts", function () {
  this.timeout(120_000)
  let rules: readonly Rule[] = []
  let folder = ''

  before(async function () {
    this.timeout(BUILD_MS)
    const hasPrometheus = await run('promtool', ['--version']).then(
      () => true,
      () => false,
    )
    const tools = await kubeTools()
    if (tools === null || !hasPrometheus) return this.skip()
    const manifests = await render(tools.helm, 'everything')
    const groups: readonly KubeManifest[] = manifests.find(({ kind }) => kind === 'PrometheusRule')?.['spec'].groups ?? []
    rules = groups.flatMap(({ rules: own }) => own as readonly Rule[])
    folder = await mkdtemp(join(tmpdir(), 'whence-alerts-'))
    return undefined
  })
  after(async () => folder !== '' && rm(folder, { recursive: true, force: true }))

  /** What promtool says against these tests; empty if they hold. Each alert by itself: all rules together take much longer. */
  const refuted = async (tests: readonly AlertTest[]): Promise<string> => {
    const files: string[] = []
    for (const [alert, own] of Map.groupBy(tests, (test) => test.alert)) {
      const file = join(folder, `${alert}.test.yaml`)
      const group = { name: alert, rules: rules.filter((rule) => rule.alert === alert) }
      await writeFile(join(folder, `${alert}.yaml`), stringify({ groups: [group] }))
      const content = { rule_files: [`${alert}.yaml`], evaluation_interval: '1m', tests: own.map(({ test }) => test) }
      await writeFile(file, stringify(content))
      files.push(file)
    }
    return run('promtool', ['test', 'rules', ...files]).then(
      () => '',
      ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => failuresIn(stdout + stderr),
    )
  }
  const ruleOf = (name: string): Rule => {
    const rule = rules.find(({ alert }) => alert === name)
    if (rule === undefined) throw new Error(`there is no alert ${name}`)
    return rule
  }
  const firing = ({ alert, labels }: AlertCase) => {
    const { annotations, labels: own } = ruleOf(alert)
    const filled = Object.entries(annotations).map(([name, text]) => [
      name,
      text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ''),
    ])
    return [{ exp_labels: { ...labels, ...own }, exp_annotations: Object.fromEntries(filled) as object }]
  }
  const testOf = (name: string, one: AlertCase, { series, at, isFiring }: Moment): AlertTest => ({
    alert: one.alert,
    test: {
      name,
      interval: '1m',
      input_series: series.map(([text, values]) => ({ series: text.replace('OURS', at), values })),
      alert_rule_test: [{ eval_time: `${MINUTES}m`, alertname: one.alert, exp_alerts: isFiring ? firing(one) : [] }],
    },
  })

  it('are all tried here', () => {
    expect(new Set(CASES.map(({ alert }) => alert))).to.deep.equal(new Set(rules.map(({ alert }) => alert)))
  })

  it('fire, with labels that say of what', async () => {
    const tests = CASES.map((one) => testOf('it fires', one, { series: one.fires, at: OURS, isFiring: true }))
    expect(await refuted(tests)).to.equal('')
  })

  it('keep quiet as long as nothing is wrong', async () => {
    const tests = CASES.flatMap((one) =>
      one.quiet.map((series) => testOf('it is quiet', one, { series, at: OURS, isFiring: false })),
    )
    expect(await refuted(tests)).to.equal('')
  })

  it('say nothing of another installation, and are not calmed by it', async () => {
    const ofAbsence = new Set(CASES.flatMap(({ alert, isAbsence }) => (isAbsence === true ? [alert] : [])))
    const absent = CASES.filter(({ isAbsence }) => isAbsence === true)
    const present = CASES.filter(({ alert }) => !ofAbsence.has(alert))
    const tests = [
      ...absent.map((one) => testOf('beside one', one, { series: one.quiet[0] ?? [], at: ANOTHER, isFiring: true })),
      ...present.map((one) => testOf('beside one', one, { series: one.fires, at: ANOTHER, isFiring: false })),
    ]
    expect(await refuted(tests)).to.equal('')
  })

  it('are refuted here if they do not fire', async () => {
    const tests = CASES.slice(1, 2).map((one) => testOf('nothing', one, { series: [], at: OURS, isFiring: true }))
    expect(await refuted(tests)).to.match(/exp:/)
  })
})

/** Without the files that are right. */
function failuresIn(text: string): string {
  return text.replace(/^Unit Testing: .*\n( *SUCCESS)?\n*/gm, '').trim()
}

interface AlertTest {
  readonly alert: string
  /** As promtool reads it. */
  readonly test: object
}

interface Moment {
  readonly series: AlertCase['fires']
  /** The labels of the installation. */
  readonly at: string
  readonly isFiring: boolean
}
