/** Hostile names, contents and variables: nothing of them is executed, and what is sent stays what the contract knows. */

import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, linkSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildHome, CHROME, chromiumName, FIREFOX, marker, receipt, type Home } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import { isInstalled, run, servedScript, SHELLS, temporaryFolder } from './support/shells.ts'

/** What an attacker would write instead of a name, a value or a line; CANARY is a file that must not appear. */
const PAYLOADS: readonly string[] = [
  '$(touch CANARY)',
  '`touch CANARY`',
  '";touch CANARY;"',
  "';touch CANARY;'",
  '|touch CANARY',
  '&touch CANARY&',
  '\ntouch CANARY\n',
  '\\";touch CANARY',
  '${IFS}touch${IFS}CANARY',
  '>CANARY',
  '<(touch CANARY)',
  '!touch CANARY',
  '~/CANARY',
  '$((CANARY[$(touch CANARY)]))',
  '-exec touch CANARY ;',
  '--help',
  '-n',
  '-e',
  '-rf',
  '--',
  '-delete',
  '-o CANARY',
  '@CANARY',
  '-K CANARY',
  '--config=CANARY',
  '%n%n%s%s',
  '%99999999d',
  '%s',
  '\\x41\\101\\n\\c',
  '\\0',
  '\\',
  '\\\\',
  "'",
  '"',
  '`',
  '$',
  '*',
  '?',
  '[a-z]*',
  '{a,b}',
  '#',
  ' ',
  '\t',
  '\r',
  '\n',
  '😀😁😂',
  '\u202ereversed',
  '\ufeff',
  '\u0000'.replace('\0', '\u0001'),
  '\u001b]0;title\u0007',
  '\u001b[2J',
  '..',
  '.',
  '/',
  '//',
  '../../../../etc/passwd',
  'A=B',
  'BEGIN{system("touch CANARY")}',
  'a b c',
  'x\ty',
  '","admin":true,"x":"',
  '"}{"',
  '\\u0000',
  ']]>',
  'null',
  'NaN',
  '1e999',
  '0x7f',
  'marker 9999999999999 ' + 'h'.repeat(43),
  'files 99999999',
  'Host: evil',
  'x\r\nEvil: 1',
  '{'.repeat(200),
  '='.repeat(100),
]

/** Contents that look like markers of this website but are invalid. */
function hostileContents(canary: string): Buffer[] {
  const now = Date.now()
  const head = '{"format":"opfs-install-attribution"'
  const json = (members: string): string => `${head},"version":1,"origin":"https://acme.dev",${members}}`
  const usual = `"created_at":${now},"expires_at":${now + 1e9}`
  const fromPayload = PAYLOADS.flatMap((payload) => {
    const text = payload.replaceAll('CANARY', canary)
    const quoted = JSON.stringify(text)
    return [
      json(`"project":"acme-dev","receipt":${quoted},${usual}`),
      json(`"project":${quoted},"receipt":"${'h'.repeat(43)}",${usual}`),
      json(`"project":"acme-dev","receipt":"${text.slice(0, 43).padEnd(43, '"')}",${usual}`),
      json(`"project":"acme-dev","receipt":"${'h'.repeat(43)}","created_at":${quoted},"expires_at":${text}`),
      `${head},"version":1,"origin":${quoted},"project":"acme-dev","receipt":"${'h'.repeat(43)}",${usual}}`,
      `${head}${text}`,
    ]
  })
  const others = [
    json(`"project":"acme-dev","receipt":["${'h'.repeat(43)}"],${usual}`),
    json(`"project":"acme-dev","receipt":"${'h'.repeat(43)}","created_at":${now},"expires_at":-1`),
    json(`"project":"acme-dev","receipt":"${'h'.repeat(43)}","created_at":${now},"expires_at":""`),
    json(`"x":"\\"project\\":\\"acme-dev\\",\\"receipt\\":\\"${'h'.repeat(43)}\\"",${usual}`),
    head,
    `${head}\0`.repeat(20),
    `${head}\n`.repeat(20),
    '\0'.repeat(1021),
  ]
  const texts = [...fromPayload, ...others]
  return texts.map((text, index) => {
    const bytes = Buffer.from(text.slice(0, 1000).padEnd(1021))
    // Every other one ends in bytes that are no text in any encoding.
    return index % 2 === 0 ? bytes.subarray(0, 1021) : Buffer.concat([bytes.subarray(0, 1000), Buffer.alloc(21, 0xff)])
  })
}

describe('hook: hostile input', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let canary: string

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
    canary = join(folder.path, 'executed')
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  for (const [index, shell] of SHELLS.entries()) {
    it(`500 names and contents in ${shell.name}`, async function () {
      if (!isInstalled(shell.argv[0]) && process.env['CI'] !== 'true') this.skip()
      const home = buildHome(join(folder.path, 'home'))
      const count = index === 0 ? fill(home, canary) : 500
      expect(count).to.be.least(500)
      const script = servedScript({ baseUrl: `${recorder.baseUrl}/h${index}` })
      const outcome = await run({ shell, script, args: ['install_completed'], env: { HOME: home.path } })
      expect(outcome).to.deep.equal({ status: 0, stdout: '', stderr: '' })
      const [sent] = recorder.under(`/h${index}`)
      expect(sent?.complaints).to.deep.equal([])
      expect(sent?.body['receipts']).to.deep.equal([receipt(1), receipt(2)])
      expect(existsSync(canary), 'something was executed').to.equal(false)
    })
  }

  it('explains hostile profiles without letting them control the terminal', async () => {
    const home = buildHome(join(folder.path, 'home'))
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/explained` })
    const { stderr } = await run({ script, args: ['install_completed', '--explain'], env: { HOME: home.path } })
    expect(stderr).to.include('2 of this website that hold')
    expect(stderr).to.match(/^[\n\x20-\x7e]*$/)
  })

  it('hostile variables and arguments', async () => {
    const names = [
      'TZ',
      'LANG',
      'LC_MESSAGES',
      'BROWSER',
      'AI_AGENT',
      'AGENT',
      'SUDO_USER',
      'WHENCE_HANDOFF',
      'XDG_STATE_HOME',
    ]
    names.push(
      'XDG_CONFIG_HOME',
      'CHROME_USER_DATA_DIR',
      'CHROME_CONFIG_HOME',
      'CDPATH',
      'GREP_OPTIONS',
      'IFS',
      'PS4',
      'CLAUDECODE',
      'WHENCE_PRODUCT_VERSION',
      'WHENCE_PLACE',
      'KUBERNETES_SERVICE_HOST',
    )
    const home = buildHome(join(folder.path, 'home-of-variables'))
    home.chromium('.config/google-chrome/Default', 1, marker(1))
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/variables` })
    const payloads = PAYLOADS.filter((payload) => !payload.includes('\0')).map((payload) =>
      payload.replaceAll('CANARY', canary),
    )
    const runOne = async (payload: string): Promise<void> => {
      const env = Object.fromEntries(names.map((name) => [name, payload]))
      const args = ['install_completed', '--handoff', payload]
      const outcome = await run({ script, args, env: { ...env, HOME: home.path, TMPDIR: folder.path } })
      expect(outcome, payload).to.deep.equal({ status: 0, stdout: '', stderr: '' })
    }
    for (let start = 0; start < payloads.length; start += 4)
      await Promise.all(payloads.slice(start, start + 4).map(runOne))
    const sent = recorder.under('/variables')
    expect(sent).to.have.length(payloads.length)
    expect(sent.flatMap(({ complaints }) => complaints)).to.deep.equal([])
    expect(existsSync(canary), 'something was executed').to.equal(false)
  })

  it('hostile settings of an installer that carries the text itself', async () => {
    for (const payload of PAYLOADS.filter((text) => !text.includes('\n') && !text.includes("'"))) {
      const text = payload.replaceAll('CANARY', canary)
      const script = servedScript({ baseUrl: recorder.baseUrl }).replace(
        "whence_website='acme-dev'",
        `whence_website='${text}!'`,
      )
      const outcome = await run({ script, args: ['install_completed'], env: { HOME: folder.path } })
      expect(outcome.stderr, payload).to.equal('whence: whence_website has no usable value; nothing is reported\n')
      expect(outcome.status).to.equal(0)
    }
    expect(existsSync(canary), 'something was executed').to.equal(false)
  })
})

/** Fills a home folder; gives the number of hostile names and contents in it. */
function fill(home: Home, canary: string): number {
  const profile = `${CHROME}/Default`
  home.chromium(profile, 1, marker(1))
  home.chromium(`${CHROME}/$(touch x)`, 2, marker(2))
  const contents = hostileContents(canary)
  contents.forEach((bytes, index) => home.chromium(profile, 100 + index, bytes))
  let names = 0
  for (const payload of PAYLOADS) {
    const name = payload.replaceAll('CANARY', canary).replaceAll('/', '_').slice(0, 200)
    if (name === '.' || name === '..') continue
    // As a profile, as a website's number, as a file's name, and in Firefox; none of these files may count.
    const foreign = marker(9, 9, { project: 'other' })
    home.file(`${CHROME}/${name} p/File System/000/t/00/00000001`, foreign)
    home.file(`${profile}/File System/${name}/t/00/00000001`, foreign)
    home.file(`${profile}/File System/000/t/00/0${name}`, foreign)
    home.file(`${FIREFOX}/${name} p/storage/default/https+++acme.dev/fs/AB/A${name}`, foreign)
    home.file(`${FIREFOX}/x/storage/default/${name}/fs/AB/ABCDEF`, marker(8))
    names += 5
  }
  // A name that, read as lines, would spell the path of a file that find did not choose.
  home.file('secret', marker(7))
  home.file(`${profile}/File System/000/t/00/1\n${join(home.path, 'secret')}`, marker(6, 6, { project: 'other' }))
  special(home, profile)
  return names + contents.length
}

/** What is no regular file, and what is too large to be read. */
function special(home: Home, profile: string): void {
  const place = (number: number): string => {
    const full = join(home.path, profile, 'File System', chromiumName(number))
    mkdirSync(dirname(full), { recursive: true })
    return full
  }
  spawnSync('mkfifo', [place(50_001)])
  mkdirSync(place(50_002), { recursive: true })
  writeFileSync(place(50_003), marker(5))
  truncateSync(place(50_003), 10 * 2 ** 30)
  const blocked = place(50_004)
  writeFileSync(blocked, marker(5, 5, { project: 'other' })) // root may read it
  chmodSync(blocked, 0)
  // Two names of one file, as a backup tool may leave them.
  linkSync(join(home.path, 'secret'), join(home.path, 'secret-2'))
}
