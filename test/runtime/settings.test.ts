/**
 * Settings: the source of each value, and that everything wrong is reported at once, by name, without showing secrets.
 */

import { expect } from 'chai'

import { keysOf } from '../../domain/typed-keys.ts'
import { COMMANDS, isCommand, type CommandName, type CommandRow } from '../../runtime/settings/commands.ts'
import type { ProblemsOutcome, RunOutcome, SettingsOutcome } from '../../runtime/settings/settings.ts'
import { compileSettings, overview, unknownCommand } from '../../runtime/settings/settings.ts'
import { ROLE_ENGINES } from '../../runtime/settings/setting-groups.ts'
import { DELIVERY_ROLES, SETTINGS } from '../../runtime/settings/table.ts'
import type { SettingRow } from '../../runtime/settings/table.ts'

const CLUSTER = {
  WHENCE_CATALOG: 'kubernetes:whence/whence',
  WHENCE_EVENT_LOG: 'kafka://127.0.0.1:9092',
  WHENCE_HOT_STATE: 'redis://127.0.0.1:6379/0',
  WHENCE_FACTS: 'http://user:hunter2@127.0.0.1:8123/whence',
  WHENCE_SECRET_FILE: '/run/secrets/whence',
}

function run<C extends CommandName>(outcome: SettingsOutcome<C>): RunOutcome<C> {
  if (outcome.kind !== 'run' && outcome.kind !== 'check') throw new Error(`not settings but ${JSON.stringify(outcome)}`)
  return outcome
}

function problems<C extends CommandName>(outcome: SettingsOutcome<C> | ProblemsOutcome): readonly string[] {
  if (outcome.kind !== 'problems') throw new Error(`no problems but ${outcome.kind}`)
  return outcome.problems.map(({ name, message }) => `${name} ${message}`)
}

describe('compileSettings', () => {
  it('needs nothing for one machine: every default works', () => {
    const { settings, kind } = run(compileSettings('embedded', [], {}))
    expect(kind).to.equal('run')
    expect(settings).to.deep.include({
      listen: { host: '127.0.0.1', port: 8080 },
      metricsListen: { host: '127.0.0.1', port: 9090 },
      baseUrl: 'http://127.0.0.1:8080',
      data: './data',
      manifests: './examples/quickstart',
      secretFile: './data/secret',
      secret: null,
      trustProxy: [],
      eventLog: { scheme: 'lmdb', url: 'lmdb:./data/lmdb', location: './data/lmdb' },
      facts: { scheme: 'chdb', url: 'chdb:./data/chdb', location: './data/chdb' },
      ga4Url: null,
      brand: 'whence',
      logLevel: 'info',
      prices: null,
    })
  })

  it('promises a default under the data folder only for what a command without servers reads', () => {
    for (const [name, { fallbackDoc = '', env }] of Object.entries(SETTINGS) as [string, SettingRow<unknown>][]) {
      if (!/^(made|`(lmdb|chdb):`) under the data folder/.test(fallbackDoc)) continue
      const readers = Object.values(COMMANDS).filter(({ settings }) => (settings as readonly string[]).includes(name))
      const usesFolders = (row: CommandRow): boolean => row.engines !== 'servers'
      expect(readers.some(usesFolders), env).to.equal(true)
    }
  })

  it('prefers an option to its variable, and both before the default', () => {
    const env = { WHENCE_LISTEN: '0.0.0.0:1000', WHENCE_BRAND: 'acme' }
    const { settings } = run(compileSettings('embedded', ['--listen', '127.0.0.1:2000'], env))
    expect(settings.listen.port).to.equal(2000)
    expect(settings.brand).to.equal('acme')
  })

  it('limits nobody by a plan unless strangers may sign up', () => {
    const plan = (...argv: readonly string[]) => run(compileSettings('embedded', argv, {})).settings.defaultPlan
    expect(plan()).to.equal('Enterprise')
    expect(plan('--sign-up', 'Open')).to.equal('Free')
    expect(plan('--sign-up', 'Open', '--default-plan', 'Standard')).to.equal('Standard')
    expect(compileSettings('embedded', ['--default-plan', 'Gold'], {}).kind).to.equal('problems')
  })

  it('takes the place of the example site with or without a port', () => {
    const siteAt = (text: string) => run(compileSettings('embedded', ['--example-site', text], {})).settings.exampleSite
    expect(siteAt('127.0.0.1')).to.deep.equal({ host: '127.0.0.1', port: null })
    expect(siteAt('localhost')).to.deep.equal({ host: 'localhost', port: null })
    expect(siteAt('127.0.0.1:8091')).to.deep.equal({ host: '127.0.0.1', port: 8091 })
  })

  it('accepts an option with an equals sign, and treats an empty variable as absent', () => {
    const { settings } = run(
      compileSettings('embedded', ['--data=/var/lib/whence'], { WHENCE_LISTEN: '', WHENCE_SECRET: '' }),
    )
    expect(settings.data).to.equal('/var/lib/whence')
    expect(settings.listen.port).to.equal(8080)
  })

  it('derives base address, secret file and engines from the data folder and address', () => {
    const { settings } = run(compileSettings('embedded', ['--data', '/srv/w/', '--listen', '[::1]:80'], {}))
    expect(settings.baseUrl).to.equal('http://[::1]')
    expect(settings.secretFile).to.equal('/srv/w/secret')
    expect(settings.facts.location).to.equal('/srv/w/chdb')
  })

  it('says everything that is wrong at once, by name', () => {
    const argv = ['--lisen', '127.0.0.1:1', '--metrics-listen', 'here', '--trust-proxy=10.0.0.0/8,bogus', '--base-url']
    const env = {
      WHENCE_GA4_URL: 'https://x.example/path',
      WHENCE_BASEURL: 'x',
      WHENCE_SECRET: 's',
      WHENCE_SECRET_FILE: 'f',
    }
    expect(problems(compileSettings('embedded', argv, env))).to.have.members([
      '--lisen is not an option of this command; did you mean --listen?',
      '--base-url needs a value',
      '--metrics-listen must be HOST:PORT, as in 127.0.0.1:8080 or [::1]:8080',
      '--trust-proxy entry 2 is not a network, as in 10.0.0.0/8',
      'WHENCE_GA4_URL must be scheme, host and port alone, as in http://127.0.0.1:8090',
      'WHENCE_BASEURL is not a variable that whencectl knows; did you mean WHENCE_BASE_URL?',
      'WHENCE_SECRET cannot be given together with WHENCE_SECRET_FILE',
    ])
  })

  it('passes over the variables by which Kubernetes tells of a Service whose name begins with whence', () => {
    const link = (service: string): Record<string, string> => ({
      [`${service}_SERVICE_HOST`]: '10.96.0.12',
      [`${service}_SERVICE_PORT`]: '80',
      [`${service}_SERVICE_PORT_HTTP`]: '80',
      [`${service}_PORT`]: 'tcp://10.96.0.12:80',
      [`${service}_PORT_80_TCP`]: 'tcp://10.96.0.12:80',
      [`${service}_PORT_80_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_80_TCP_PORT`]: '80',
      [`${service}_PORT_80_TCP_ADDR`]: '10.96.0.12',
    })
    const env = { ...link('WHENCE'), ...link('WHENCE_DASHBOARD'), ...link('WHENCE_CLICKHOUSE_0') }
    expect(run(compileSettings('embedded', [], env)).settings.listen.port).to.equal(8080)
    // What no Service explains is still a mistake.
    for (const wrong of ['WHENCE_PORT', 'WHENCE_SERVICE_PORT', 'WHENCE_API_SERVICE_HOST'])
      expect(problems(compileSettings('embedded', [], { [wrong]: '8080' })), wrong).to.have.length(1)
    expect(problems(compileSettings('embedded', [], { ...env, WHENCE_PORTS: '80' }))).to.have.length(1)
  })

  it('reads the proxy of the network from the usual variables, in capitals or not', () => {
    for (const [https, no] of [
      ['HTTPS_PROXY', 'NO_PROXY'],
      ['https_proxy', 'no_proxy'],
    ] as const) {
      const env = { [https]: 'http://user:canary@proxy.acme.dev:3128\n', [no]: '.acme.dev, 10.0.0.0/8' }
      const { settings } = run(compileSettings('embedded', [], env))
      expect(settings.httpsProxy).to.equal('http://user:canary@proxy.acme.dev:3128/')
      expect(settings.noProxy).to.deep.equal(['acme.dev', '10.0.0.0/8'])
    }
    expect(problems(compileSettings('embedded', [], { HTTPS_PROXY: 'socks5://canary:1080' }))).to.deep.equal([
      'HTTPS_PROXY must be the address of a proxy, such as http://proxy.acme.dev:3128',
    ])
    const shown = compileSettings('embedded', ['--check'], { HTTPS_PROXY: 'http://user:canary@proxy:3128' })
    expect(shown.kind === 'check' && shown.text)
      .to.match(/^HTTPS_PROXY=http:\/\/[^\n]*proxy:3128/m)
      .and.not.contain('canary')
  })

  const WRONG: readonly (readonly [string, string])[] = [
    ['WHENCE_LISTEN', '127.0.0.1'],
    ['WHENCE_LISTEN', '127.0.0.1:70000'],
    ['WHENCE_LISTEN', 'http://127.0.0.1:80'],
    ['WHENCE_BASE_URL', 'whence.example'],
    ['WHENCE_BASE_URL', 'https://user:x@whence.example'],
    ['WHENCE_BASE_URL', 'https://whence.example/?a'],
    ['WHENCE_TRUST_PROXY', '10.0.0.0/33'],
    ['WHENCE_TRUST_PROXY', '010.1.1.1'],
    ['WHENCE_EVENT_LOG', 'redis://127.0.0.1'],
    ['WHENCE_EVENT_LOG', 'lmdb:'],
    ['WHENCE_EVENT_LOG', 'redis://127.0.0.1'],
    ['WHENCE_FACTS', 'http:127.0.0.1'],
    ['WHENCE_META_URL', 'ftp://x.example'],
    ['WHENCE_BRAND', 'Acme Inc'],
    ['WHENCE_LOG_LEVEL', 'verbose'],
    ['WHENCE_PRICES', '{'],
    ['WHENCE_PRICES', '[]'],
    ['WHENCE_PRICES', '{"Gold": 1}'],
    ['WHENCE_EXAMPLE_SITE', '8081'],
  ]
  for (const [name, value] of WRONG) {
    it(`refuses ${name}=${value} without repeating it`, () => {
      const found = problems(compileSettings('embedded', [], { [name]: value }))
      expect(found).to.have.length(1)
      expect(found[0]).to.match(new RegExp(`^${name} `))
    })
  }

  it('refuses a mail server whose password cannot be decoded, and a sender that is no single address', () => {
    const right = { WHENCE_SMTP_URL: 'smtp://user:pa%25ss@mail.acme.dev', WHENCE_MAIL_FROM: 'Acme, Inc. <w@acme.dev>' }
    for (const from of ['w@acme.dev', '<w@acme.dev>', right.WHENCE_MAIL_FROM])
      expect(run(compileSettings('dashboard', [], { ...CLUSTER, ...right, WHENCE_MAIL_FROM: from })).kind).to.equal(
        'run',
      )
    const found = (wrong: object) => problems(compileSettings('dashboard', [], { ...CLUSTER, ...right, ...wrong }))
    for (const url of ['smtp://user:pa%ss@mail.acme.dev', 'smtp://us%er:pass@mail.acme.dev:587', 'smtps://u:%@a.dev'])
      expect(found({ WHENCE_SMTP_URL: url }), url).to.deep.equal([
        'WHENCE_SMTP_URL has a user name or password with a broken percent code; % itself is %25',
      ])
    for (const from of [
      'Whence <w@acme.dev',
      'Whence w@acme.dev>',
      'w@acme.dev>',
      '<w@acme.dev',
      'Whence w@acme.dev',
      'W <a@b.dev> <c@d.dev>',
      'a@b',
      'Whence <a..b@acme.dev>',
    ])
      expect(found({ WHENCE_MAIL_FROM: from }), from).to.deep.equal([
        'WHENCE_MAIL_FROM must be an address such as whence@acme.dev, or Whence <whence@acme.dev>',
      ])
  })

  it('takes scopes with openid among them', () => {
    const scopesIn = (given: string) => {
      const outcome = compileSettings('dashboard', [], { ...CLUSTER, WHENCE_OIDC_SCOPES: given })
      return outcome.kind === 'run' ? outcome.settings.oidcScopes : problems(outcome)
    }
    expect(scopesIn('openid  email groups offline_access email')).to.equal('openid email groups offline_access')
    for (const wrong of ['email groups', 'openid "x"', 'openid,email', 'openid a\\b', 'openid gr\u00fcppe'])
      expect(scopesIn(wrong), wrong).to.deep.equal([
        'WHENCE_OIDC_SCOPES must be names separated by spaces, openid among them, as in openid email profile groups',
      ])
  })

  it('reports what is wrong with the address of every engine at once, and takes several Sentinels', () => {
    const env = { WHENCE_SECRET: 'only-for-tests-only-for-tests-only-for-tests', WHENCE_SPOOL: './spool' }
    const wrong = {
      WHENCE_EVENT_LOG: 'kafka://a:9092?partitions=none',
      WHENCE_HOT_STATE: 'redis://a,b/0',
      WHENCE_FACTS: 'https://a/whence?cert=/a.pem',
      WHENCE_SPOOL_MEGABYTES: '0',
    }
    const found = problems(compileSettings('api', [], { ...env, ...wrong }))
    expect(found.map((problem) => problem.split(' ')[0]).toSorted()).to.deep.equal(Object.keys(wrong).toSorted())
    const right = {
      WHENCE_EVENT_LOG: 'kafka://a:9092,b:9092?tls=1',
      WHENCE_HOT_STATE: 'redis://:secret@a:26379,b:26379/0?sentinel=whence',
      WHENCE_FACTS: 'https://a:8443/whence',
    }
    expect(run(compileSettings('api', [], { ...env, ...right })).settings.spoolMegabytes).to.equal(1_000)
  })

  it('holds exactly what its command reads, and ignores a wrong value of anything else', () => {
    const { settings } = run(compileSettings('lint', [], { WHENCE_LISTEN: 'nonsense' }))
    expect(settings).to.deep.equal({ manifests: './examples/quickstart' })
    const embedded = run(compileSettings('embedded', [], { WHENCE_HOT_STATE: CLUSTER.WHENCE_HOT_STATE }))
    expect(embedded.settings).to.have.keys([...COMMANDS.embedded.settings])
  })

  it('reports a default that cannot be used because of the setting it comes from', () => {
    expect(problems(compileSettings('embedded', ['--listen', ':8080'], {}))).to.deep.equal([
      'WHENCE_BASE_URL must be an address such as https://whence.acme.dev',
    ])
    const reachable = ['--listen', ':8080', '--base-url', 'https://whence.acme.dev']
    expect(compileSettings('embedded', reachable, {}).kind).to.equal('run')
  })

  it('ignores the variables of the hook and of others', () => {
    const env = { WHENCE_HANDOFF: 'wht_x', WHENCE_DISABLED: '1', PATH: '/bin', WHENCEFORTH: '1' }
    expect(compileSettings('embedded', [], env).kind).to.equal('run')
  })

  it('requires folders for a single process', () => {
    expect(problems(compileSettings('embedded', ['--facts', 'http://127.0.0.1:8123/whence'], CLUSTER))).to.deep.equal([
      'WHENCE_EVENT_LOG must be a folder, as in lmdb:./data/lmdb',
      '--facts must be a folder, as in chdb:./data/chdb',
    ])
  })

  it('lets tools work on servers as well as on folders', () => {
    for (const command of ['explain', 'migrate'] as const) {
      const { settings } = run(compileSettings(command, ['--facts', 'http://127.0.0.1:8123/whence'], CLUSTER))
      expect([settings.eventLog.scheme, settings.facts.scheme]).to.deep.equal(['kafka', 'http'])
    }
  })

  it('requires servers for a cluster, and a secret', () => {
    expect(problems(compileSettings('api', [], {}))).to.deep.equal([
      'WHENCE_EVENT_LOG is required for api',
      'WHENCE_HOT_STATE is required for api',
      'WHENCE_FACTS is required for api',
      'WHENCE_SECRET_FILE is required for api, or WHENCE_SECRET',
    ])
    expect(run(compileSettings('api', [], CLUSTER)).settings.eventLog.scheme).to.equal('kafka')
    const embedded = { ...CLUSTER, WHENCE_EVENT_LOG: 'lmdb:/srv', WHENCE_FACTS: 'chdb:/srv' }
    expect(problems(compileSettings('api', [], embedded))).to.deep.equal([
      'WHENCE_EVENT_LOG lmdb: works only in the embedded program',
      'WHENCE_FACTS chdb: works only in the embedded program',
    ])
  })

  it('requires for each role the engines that it connects to, and no other', () => {
    for (const role of DELIVERY_ROLES) {
      const engines = ROLE_ENGINES[role]
      expect(problems(compileSettings('delivery', ['--role', role], {})), role).to.deep.equal(
        engines.map((name) => `${SETTINGS[name].env} is required for the role ${role}`),
      )
      const given = Object.fromEntries(engines.map((name) => [SETTINGS[name].env, CLUSTER[SETTINGS[name].env]]))
      expect(run(compileSettings('delivery', ['--role', role], given)).settings.role).to.equal(role)
    }
    expect(ROLE_ENGINES).to.deep.include({ 'facts-writer': ['eventLog', 'facts'], rollup: ['eventLog', 'facts'] })
    expect(ROLE_ENGINES.ga4).to.deep.equal(['eventLog', 'hotState'])
  })

  it('requires a known role for delivery', () => {
    expect(problems(compileSettings('delivery', [], CLUSTER))).to.deep.equal(['--role is required for delivery'])
    expect(problems(compileSettings('delivery', ['--role', 'postman'], CLUSTER))[0]).to.match(
      /^--role must be one of facts-writer/,
    )
    expect(run(compileSettings('delivery', ['--role', 'ga4'], CLUSTER)).settings.role).to.equal('ga4')
  })

  it('takes the arguments and flags of a command, and no others', () => {
    const explained = run(compileSettings('explain', ['evt-12345678', '--json'], {}))
    expect(explained.positionals).to.deep.equal(['evt-12345678'])
    expect(explained.flags.has('--json')).to.equal(true)
    expect(run(compileSettings('explain', [], {})).positionals).to.deep.equal([])
    expect(problems(compileSettings('explain', ['a', 'b'], {}))).to.deep.equal(['b is one argument too many'])
    expect(run(compileSettings('explain', ['--', '--odd'], {})).positionals).to.deep.equal(['--odd'])
    expect(run(compileSettings('lint', ['-f', 'manifests'], {})).flags.get('-f')).to.equal('manifests')
    expect(problems(compileSettings('logs', ['--json=yes', '--limit', '3', '--limit', '4'], {}))).to.deep.equal([
      '--json takes no value',
      '--limit is given twice',
    ])
  })

  it('names the command that was probably meant', () => {
    expect(problems(unknownCommand('embeded'))[0]).to.contain('did you mean embedded?')
    expect(problems(unknownCommand(''))[0]).to.contain('needs a command')
    expect(problems(unknownCommand('constructor'))[0]).to.contain('is not a command')
    expect(['constructor', ''].some(isCommand)).to.equal(false)
  })

  it('prints with --check what is in force, secrets masked', () => {
    const outcome = compileSettings('api', ['--check'], {
      ...CLUSTER,
      WHENCE_SECRET_FILE: undefined,
      WHENCE_SECRET: 'topsecret',
    })
    expect(outcome.kind).to.equal('check')
    const { text } = run(outcome)
    expect(text).to.contain('WHENCE_FACTS=http://***@127.0.0.1:8123/whence')
    expect(text).to.contain('WHENCE_SECRET=***')
    expect(text).to.contain('WHENCE_LISTEN=127.0.0.1:8080  (default)')
    expect(text).not.to.match(/hunter2|topsecret/)
  })

  it('checks with --check as well: what is wrong is said', () => {
    expect(compileSettings('embedded', ['--check', '--listen', 'x'], {}).kind).to.equal('problems')
  })

  it('gives help and version whatever else is there', () => {
    expect(compileSettings('embedded', ['--help', '--check'], {}).kind).to.equal('help')
    expect(compileSettings('embedded', ['--nonsense', '-h'], {}).kind).to.equal('help')
    expect(compileSettings('embedded', ['--version'], {}).kind).to.equal('version')
  })

  for (const command of keysOf(COMMANDS)) {
    const row: CommandRow = COMMANDS[command]
    it(`names in the help of ${command} every option that it takes`, () => {
      const outcome = compileSettings(command, ['--help'], {})
      const text = outcome.kind === 'help' ? outcome.text : ''
      for (const name of row.settings) {
        const setting: SettingRow<unknown> = SETTINGS[name]
        expect(text).to.contain(setting.option ?? setting.env)
      }
      for (const flag of Object.keys(row.flags)) expect(text).to.contain(flag)
      expect(overview()).to.contain(command)
    })
  }
})
