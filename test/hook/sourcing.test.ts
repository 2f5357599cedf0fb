/** A caller is left as it was: after sourcing the hook, after running it under strict options, and around its input. */

import { expect } from 'chai'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../fixtures/until.ts'
import { buildHome, CHROME, marker } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import { isInstalled, run, servedScript, SHELLS, temporaryFolder } from './support/shells.ts'

describe('hook: the caller stays as it was', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let home: string
  let hook: string

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
    const built = buildHome(join(folder.path, 'home'))
    built.chromium(`${CHROME}/Default`, 1, marker(1))
    home = built.path
    hook = join(folder.path, 'report.sh')
    writeFileSync(hook, servedScript({ baseUrl: recorder.baseUrl }))
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  /** Prints all state of the shell that a script could change. */
  const snapshot = (): string => `
    snapshot() {
      set +o; trap; umask; pwd; alias
      printf '%s|' "$IFS" "$PATH" "$HOME" "\${LC_ALL-unset}" "\${LANG-unset}" "$@"
      # Pipes are left out: some shells hold one for a moment while they start a program.
      ls -l /proc/$$/fd >${folder.path}/descriptors
      awk '!/pipe:/ { print $9 }' ${folder.path}/descriptors
    }`

  /** Every name that the script uses, and whether the shell still knows it as a variable or a function. */
  const leftovers = (script: string): string => {
    const names = [...new Set(script.match(/\bwhence_[a-z_]+\b/g) ?? [])]
    return `for name in ${names.join(' ')}; do
      eval "if [ -n \\"\\\${$name+set}\\" ]; then echo \\"variable $name\\"; fi"
      if command -v "$name" >/dev/null 2>&1; then echo "function $name"; fi
    done`
  }

  for (const shell of SHELLS) {
    it(`${shell.name}: sourcing it leaves no variable, function, option, trap, descriptor or file behind`, async function () {
      if (!isInstalled(shell.argv[0]) && process.env['CI'] !== 'true') this.skip()
      const sent = recorder.all.length
      const script = `${snapshot()}
        set -eu
        trap 'echo bye' EXIT
        trap '' USR2
        umask 027
        set -- install_completed 'second  argument'
        snapshot "$@" >${folder.path}/before
        set -- install_completed
        . ${hook}
        set -- install_completed 'second  argument'
        snapshot "$@" >${folder.path}/after
        diff ${folder.path}/before ${folder.path}/after
        ${leftovers(servedScript({ baseUrl: recorder.baseUrl }))}
        echo survived`
      const env = { HOME: home, TMPDIR: join(folder.path, 'tmp') }
      const outcome = await run({ shell, script, env })
      expect(outcome).to.deep.equal({ status: 0, stdout: 'survived\nbye\n', stderr: '' })
      expect(recorder.all.length).to.equal(sent + 1)
      expect(readdirSync(env.TMPDIR)).to.deep.equal([])
    })

    it(`${shell.name}: no process outlives it`, async function () {
      if (!isInstalled(shell.argv[0]) && process.env['CI'] !== 'true') this.skip()
      const mark = `HOOK_TEST_MARK=${process.pid}-${shell.name.replaceAll(' ', '-')}`
      const env = { HOME: home, HOOK_TEST_MARK: mark.slice(15) }
      await run({ shell, script: servedScript({ baseUrl: recorder.baseUrl }), args: ['install_completed'], env })
      expect(await until(() => processesWith(mark).length === 0, { withinMs: 10_000, everyMs: 20 })).to.equal(true)
    })

    it(`${shell.name}: a caller with functions, aliases and options of its own`, async function () {
      if (!isInstalled(shell.argv[0]) && process.env['CI'] !== 'true') this.skip()
      const sent = recorder.all.length
      const script = `
        set -eu
        set -a
        set -f
        set -C
        for name in curl find grep awk sort tr date id ls dd xargs sleep od; do eval "$name() { echo trapped; }"; done
        IFS=.
        readonly LINES=1
        trap '' TERM HUP INT
        set -- install_completed
        . ${hook}
        curl`
      const outcome = await run({ shell, script, env: { HOME: home } })
      expect(outcome.stdout).to.equal('trapped\n')
      expect(outcome.status).to.equal(0)
      expect(recorder.all.length).to.equal(sent + 1)
      expect(recorder.all.at(-1)?.complaints).to.deep.equal([])
    })
  }

  it('reads nothing of an input that belongs to its caller', async () => {
    const script = `echo 'this line is data' | { dash ${hook} install_completed; read -r line; echo "$line"; }`
    const { stdout } = await run({ script, env: { HOME: home } })
    expect(stdout).to.equal('this line is data\n')
  })

  it('lets a pipe from curl end cleanly, and what follows it in the same input run', async () => {
    const script = `${servedScript({ baseUrl: recorder.baseUrl })}\necho after`
    const outcome = await run({ script, args: ['first_run'], env: { HOME: home } })
    expect(outcome).to.deep.equal({ status: 0, stdout: 'after\n', stderr: '' })
  })

  it('leaves the install alone if output is closed or not read', async () => {
    const sent = recorder.all.length
    const lines = [
      '>&-',
      '2>&-',
      '>&- 2>&- <&-',
      '| true',
      '2>&1 | true',
      '--print | true',
      '--explain 2>/dev/full',
      '--print >/dev/full',
    ]
    const script = lines.map((line) => `dash ${hook} install_completed ${line}; echo $?`).join('\n')
    const { stdout } = await run({ script, env: { HOME: home } })
    expect(stdout).to.equal('0\n'.repeat(lines.length))
    expect(recorder.all.length, 'all but those with --print').to.equal(sent + lines.length - 2)
  })
})

/** Command lines of the processes whose environment holds `mark`. */
function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const isOurs = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(mark)
        return isOurs ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        return [] // It has ended meanwhile.
      }
    })
}
