/**
 * Runs mocha for Stryker: the files are loaded once, and for each mutant only the tests that reach it run.
 *
 * Stryker's own runner for mocha needs a part of mocha that version 12 does not have any more.
 */

import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
  type DryRunOptions,
  type DryRunResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
} from '@stryker-mutator/api/test-runner'
import type { StrykerOptions } from '@stryker-mutator/api/core'
import Mocha from 'mocha'

/** What instrumented code and this runner share. */
interface Shared {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  mutantCoverage?: never
  hitCount?: number | undefined
  hitLimit?: number | undefined
}

interface Settings extends StrykerOptions {
  readonly mocha?: { readonly spec: readonly string[]; readonly timeoutMs: number }
}

class MochaRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options)
  readonly #shared: Shared
  readonly #mocha: Mocha
  #isLoaded = false

  constructor(options: StrykerOptions) {
    const holder = globalThis as unknown as { __stryker__?: Shared }
    this.#shared = holder.__stryker__ ??= {}
    const { spec = [], timeoutMs = 5_000 } = (options as Settings).mocha ?? {}
    this.#mocha = new Mocha({ timeout: timeoutMs, reporter: Mocha.reporters.Base })
    this.#mocha.cleanReferencesAfterRun(false)
    // What a mutant left behind may fail when its run is over and mocha does not listen any more: no reason to end.
    process.on('uncaughtException', () => undefined)
    for (const file of spec) this.#mocha.addFile(file)
    // A test is known by its full title; what runs in a hook counts for the test that is next.
    const shared = this.#shared
    this.#mocha.suite.beforeEach(function () {
      shared.currentTestId = this.currentTest?.fullTitle()
    })
  }

  capabilities(): TestRunnerCapabilities {
    // Modules stay loaded, so a mutant that acts while they are loaded needs a process of its own.
    return { reloadEnvironment: false }
  }

  async dryRun({ coverageAnalysis, disableBail }: DryRunOptions): Promise<DryRunResult> {
    const result = await this.#run(disableBail)
    const { mutantCoverage } = this.#shared
    const isCovered = result.status === DryRunStatus.Complete && coverageAnalysis !== 'off'
    return isCovered && mutantCoverage !== undefined ? { ...result, mutantCoverage } : result
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, hitLimit, mutantActivation } = options
    this.#shared.hitLimit = hitLimit
    this.#shared.hitCount = hitLimit === undefined ? undefined : 0
    const titles = (testFilter ?? []).map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    this.#mocha.grep(testFilter === undefined ? /./ : new RegExp(`^(?:${titles.join('|')})$`))
    this.#shared.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
    return toMutantRunResult(await this.#run(options.disableBail, activeMutant.id))
  }

  async #run(isWhole: boolean, mutant?: string): Promise<DryRunResult> {
    try {
      if (!this.#isLoaded) await this.#mocha.loadFilesAsync()
      this.#isLoaded = true
      this.#shared.activeMutant = mutant
      setBail(this.#mocha.suite, !isWhole)
      const tests = await this.#tests()
      const endless = determineHitLimitReached(this.#shared.hitCount, this.#shared.hitLimit)
      return endless ?? { status: DryRunStatus.Complete, tests }
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: String(error) }
    }
  }

  #tests(): Promise<TestResult[]> {
    const tests: TestResult[] = []
    return new Promise((resolve) => {
      const runner = this.#mocha.run(() => resolve(tests))
      runner.on('pass', (test) => {
        tests.push({ ...named(test.fullTitle()), timeSpentMs: test.duration ?? 0, status: TestStatus.Success })
      })
      runner.on('fail', (test, error: Error) => {
        // A hook that fails counts as its test.
        const title = test.ctx?.currentTest?.fullTitle() ?? test.fullTitle()
        tests.push({
          ...named(title),
          timeSpentMs: 0,
          status: TestStatus.Failed,
          failureMessage: String(error.message),
        })
      })
    })
  }
}

function named(title: string): { readonly id: string; readonly name: string } {
  return { id: title, name: title }
}

function setBail(suite: Mocha.Suite, isBailing: boolean): void {
  suite.bail(isBailing)
  for (const child of suite.suites) setBail(child, isBailing)
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'mocha-12', MochaRunner)]
