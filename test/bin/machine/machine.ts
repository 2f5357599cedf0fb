/**
 * A machine in a folder: the commands of docs/vm.md run there as they stand, with stand-ins for what needs a machine of
 * its own (systemctl, useradd, runuser). The unit's command line is started with the unit's environment.
 */

import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../../fixtures/until.ts'
import { buildServerPackage } from '../../../tools/release/package.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'
import { MANIFESTS } from '../../../fixtures/service/service.ts'
import { ROOT } from '../../tidy/source-files.ts'

const run = promisify(execFile)
const COMMAND_MS = 300_000
/**
 * Installing hundreds of packages takes too long for every run (test/long does it), so none are installed; those of this checkout are
 * linked in their place.
 */
const WITHOUT_OTHERS = { dependencies: {}, optionalDependencies: {} }

export interface Machine {
  readonly folder: string
  readonly url: string
  readonly tlsPort: number
  /** The real location of a path in the guide. */
  readonly at: (path: string) => string
  /** Runs the blocks of commands under a heading of docs/vm.md; resolves with what they wrote on standard output. */
  readonly follow: (heading: string) => Promise<string>
  /** One command, with the machine's PATH and with paths as in the guide. */
  readonly sh: (command: string) => Promise<string>
  /** Edits the installed settings and manifests as a person would. */
  readonly edit: () => Promise<void>
  readonly ready: () => Promise<void>
  readonly journal: () => Promise<string>
  /** Packs what is built, as this version, where the guide expects it, in place of any other. */
  readonly bring: (version: string) => Promise<void>
  readonly remove: () => Promise<void>
}

export async function makeMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-machine-'))
  const port = await freePort()
  const metricsPort = await freePort()
  const tlsPort = await freePort()
  const at = (path: string): string => join(folder, path)
  for (const path of ['/etc/systemd/system', '/etc/caddy', '/var/lib', '/var/backups', '/usr/local'])
    await mkdir(at(path), { recursive: true })
  await writeStandIns(at('/stand-ins'), folder)
  await buildServerPackage(at('/built'))
  const onMachine = (text: string): string =>
    text
      .replaceAll(/(?<![\w.$}-])\/(etc|var|usr\/local)\b/g, `${folder}/$1`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:9090', `127.0.0.1:${metricsPort}`)
      .replaceAll('whence.acme.dev', `localhost:${tlsPort}`)
  const path = [at('/stand-ins'), at('/usr/local/bin'), dirname(process.execPath), process.env['PATH']]
  const env = { ...process.env, PATH: path.join(':') }
  const sh = async (command: string): Promise<string> =>
    (await run('sh', ['-euc', onMachine(command)], { cwd: folder, env, timeout: COMMAND_MS })).stdout
  const url = `http://127.0.0.1:${port}`
  return {
    folder,
    url,
    tlsPort,
    at,
    sh,
    follow: async (heading) => {
      let output = ''
      for (const block of await blocksUnder(heading)) {
        output += await sh(block)
      }
      return output
    },
    edit: async () => {
      for (const path of ['/etc/whence/whence.env', '/etc/systemd/system/whence.service'])
        await writeFile(at(path), onMachine(await readFile(at(path), 'utf8')))
      for (const [name, text] of Object.entries(MANIFESTS)) await writeFile(at(`/etc/whence/manifests/${name}`), text)
      const caddy = join(at('/usr/local/lib/node_modules/whence-server/examples/vm'), 'Caddyfile')
      const globals = `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n`
      const site = onMachine(await readFile(caddy, 'utf8')).replace(/^localhost:\d+ \{$/m, '$&\n\ttls internal')
      await writeFile(caddy, `${globals}${site}`)
    },
    ready: () => answers(`http://127.0.0.1:${metricsPort}/ready`),
    journal: () => readFile(at('/journal'), 'utf8'),
    bring: (version) => packInto(folder, version),
    remove: async () => {
      for (const unit of ['caddy', 'whence']) await sh(`systemctl stop ${unit}`)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function blocksUnder(heading: string): Promise<readonly string[]> {
  const guide = await readFile(join(ROOT, 'docs/vm.md'), 'utf8')
  const section = guide.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  const blocks = [...(section ?? '').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  if (blocks.length === 0) throw new Error(`docs/vm.md has no commands under "${heading}"`)
  return blocks
}

async function answers(url: string): Promise<void> {
  const isAnswered = async (): Promise<boolean> => {
    const response = await fetch(url).catch(() => null)
    await response?.arrayBuffer()
    return response?.ok === true
  }
  await until(isAnswered, { what: `${url} answers`, everyMs: 50 })
}

async function packInto(folder: string, version: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.endsWith('.tgz')) await rm(join(folder, name))
  const built = join(folder, 'built')
  await rewrite(join(built, 'package.json'), (manifest) => ({ ...manifest, version, ...WITHOUT_OTHERS }))
  await rewrite(join(built, 'npm-shrinkwrap.json'), (lock) => {
    const packages = lock['packages'] as Readonly<Record<string, object>>
    return { ...lock, version, packages: { '': { ...packages[''], version, ...WITHOUT_OTHERS } } }
  })
  await run('npm', ['pack', '--silent', built], { cwd: folder, timeout: COMMAND_MS })
}

async function rewrite(file: string, change: (content: Record<string, unknown>) => object): Promise<void> {
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>)))
}

async function writeStandIns(folder: string, root: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const node = dirname(process.execPath)
  const npm = (await run('sh', ['-c', 'command -v npm'])).stdout.trim()
  const scripts = {
    useradd: 'exit 0',
    // Groups and owners need root and an account.
    install: WITHOUT_OWNER,
    runuser: '[ "$1 $3" = "-u --" ] || exit 64\nshift 3\nexec "$@"',
    npm: `${npm} "$@" --prefer-offline --no-audit --no-fund --loglevel=error
# In the place of the packages that it was packed without.
ln -sfn ${ROOT}/node_modules ${root}/usr/local/lib/node_modules/whence-server/node_modules`,
    systemctl: SYSTEMCTL.replaceAll('@ROOT@', root).replaceAll('@NODE@', node),
  }
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(folder, name), 0o755)
  }
}

const WITHOUT_OWNER = `left=$#
while [ $left -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  if [ "$word" = -g ] || [ "$word" = -o ]; then shift; left=$((left - 1)); else set -- "$@" "$word"; fi
done
exec /usr/bin/install "$@"`

/** Starts what `ExecStart=` says, in its folder and with nothing in the environment but its file. */
const SYSTEMCTL = `set -eu
root=@ROOT@
setting() { sed -n "s/^$2=//p" "$root/etc/systemd/system/$1.service"; }
stop() {
  [ -f "$root/$1.pid" ] || return 0
  kill -TERM "$(cat "$root/$1.pid")" 2>/dev/null || true
  tries=0
  while kill -0 "$(cat "$root/$1.pid")" 2>/dev/null && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
  rm -f "$root/$1.pid"
}
start() {
  if [ "$1" = caddy ]; then
    XDG_DATA_HOME=$root/caddy setsid caddy run --config "$root/etc/caddy/Caddyfile" --adapter caddyfile >"$root/caddy.log" 2>&1 </dev/null &
  else
    folder=$root/var/lib/$(setting "$1" StateDirectory)
    mkdir -p -m "$(setting "$1" StateDirectoryMode)" "$folder"
    words=$(grep -v '^#' "$(setting "$1" EnvironmentFile)")
    cd "$(setting "$1" WorkingDirectory)"
    # shellcheck disable=SC2086
    setsid env -i PATH=@NODE@:/usr/bin:/bin $words $(setting "$1" ExecStart) >>"$root/journal" 2>&1 </dev/null &
  fi
  echo $! >"$root/$unit.pid"
}
verb=$1
shift
[ "\${1-}" != --now ] || shift
unit=\${1-}
case $verb in
  daemon-reload) ;;
  start | enable) start "$unit" ;;
  reload | restart) stop "$unit"; start "$unit" ;;
  stop) stop "$unit" ;;
  *) exit 64 ;;
esac`
