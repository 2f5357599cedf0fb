/** `whencectl lint`: checks a folder of custom resources and prints every problem, like the running service. */

import { formatProblems, lintFolder } from '../../runtime/catalog/source.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { print, printJson } from '../terminal/output.ts'

export async function lintTool(run: RunOutcome<'lint'>, env: NodeJS.ProcessEnv): Promise<number> {
  const folder = run.flags.get('-f') ?? run.settings.manifests
  const problems = await lintFolder({ folder, env, allowsMissing: run.flags.has('--allow-missing') })
  if (run.flags.has('--json')) {
    printJson(problems)
  } else {
    print(problems.length === 0 ? `${folder}: no problems\n` : `${formatProblems(problems)}\n`)
  }
  return problems.length === 0 ? 0 : 1
}
