import { expect } from 'chai'
import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { LIMITS } from '../../domain/limits.ts'
import { fillCommand, withoutPlaceholder } from '../../sdk/extras/fill.ts'
import { readCommands } from '../../sdk/extras/shell-words.ts'

const TOKEN = `wht_${'aB3-_'.repeat(9).slice(0, 43)}`
const HOOK = 'https://whence.example/v1/projects/acme-dev/paths/cli/report.sh'
const SCRIPT = 'https://acme.dev/install.sh'

/** Writes what a reader of the page would see: T for the token, V for the variable with it. */
const fill = (text: string, isWindows = false) =>
  fillCommand(text, TOKEN, { isWindows })?.replaceAll(`env WHENCE_HANDOFF=${TOKEN}`, 'V').replaceAll(TOKEN, 'T')

describe('sdk/fill', () => {
  describe('the hook itself', () => {
    const CASES: [string, string][] = [
      [
        `curl -fsSL ${HOOK} | sh -s -- install_completed`,
        `curl -fsSL ${HOOK} | sh -s -- install_completed --handoff T`,
      ],
      [
        `curl -fsSL '${HOOK}' | sudo sh -s -- install_completed`,
        `curl -fsSL '${HOOK}' | sudo sh -s -- install_completed --handoff T`,
      ],
      [
        `wget -qO- ${HOOK}|sh -s -- first_run --explain 2>/dev/null`,
        `wget -qO- ${HOOK}|sh -s -- first_run --explain --handoff T 2>/dev/null`,
      ],
      [
        `curl ${HOOK} | sh -s -- install_started; acme login`,
        `curl ${HOOK} | sh -s -- install_started --handoff T; acme login`,
      ],
      ['sh report.sh install_completed && echo done', 'sh report.sh install_completed --handoff T && echo done'],
      [
        `curl ${HOOK} |\\\n  sh -s -- \\\n  install_completed # report`,
        `curl ${HOOK} |\\\n  sh -s -- \\\n  install_completed --handoff T # report`,
      ],
    ]
    for (const [plain, filled] of CASES)
      it(`gets an argument: ${JSON.stringify(plain)}`, () => expect(fill(plain)).to.equal(filled))
  })

  describe('any other script, and package managers', () => {
    const CASES: [string, string][] = [
      [`curl -fsSL ${SCRIPT} | sh`, `curl -fsSL ${SCRIPT} | V sh`],
      [`curl -fsSL ${SCRIPT}|bash`, `curl -fsSL ${SCRIPT}|V bash`],
      [`curl -fsSL ${SCRIPT} | sh -s -- --yes`, `curl -fsSL ${SCRIPT} | V sh -s -- --yes`],
      // A piped shell would take the word for the name of a file, so this is not the hook.
      [`curl -fsSL ${HOOK} | sh install_completed`, `curl -fsSL ${HOOK} | V sh install_completed`],
      [`curl -fsSL ${SCRIPT} | sudo bash`, `curl -fsSL ${SCRIPT} | sudo V bash`],
      [`curl -fsSL ${SCRIPT} | sudo -E -u deploy -H bash -`, `curl -fsSL ${SCRIPT} | sudo -E -u deploy -H V bash -`],
      [`curl -fsSL ${SCRIPT} | ACME_VERSION=2 /bin/sh`, `curl -fsSL ${SCRIPT} | ACME_VERSION=2 V /bin/sh`],
      [`curl -fsSL ${SCRIPT} | env A="b c" zsh`, `curl -fsSL ${SCRIPT} | env A="b c" V zsh`],
      [`sh -c "$(curl -fsSL ${SCRIPT})"`, `V sh -c "$(curl -fsSL ${SCRIPT})"`],
      [`bash <(curl -fsSL ${SCRIPT}) --yes`, `V bash <(curl -fsSL ${SCRIPT}) --yes`],
      [`$ curl -fsSL ${SCRIPT} | sh`, `$ curl -fsSL ${SCRIPT} | V sh`],
      [`curl -fsSLO ${SCRIPT} && sh install.sh`, `curl -fsSLO ${SCRIPT} && V sh install.sh`],
      [
        'wget https://acme.dev/a.run\nchmod +x a.run\n./a.run --quiet',
        'wget https://acme.dev/a.run\nchmod +x a.run\nV ./a.run --quiet',
      ],
      [`curl -fsSL "${SCRIPT}?a=1&b=2" | sh; echo 'a | sh'`, `curl -fsSL "${SCRIPT}?a=1&b=2" | V sh; echo 'a | sh'`],
      ['curl -sSL https://install.acme.dev | python3 -', 'curl -sSL https://install.acme.dev | V python3 -'],
      ['npm install -g acme', 'V npm install -g acme'],
      ['# with npm\nnpx acme@latest init\r\nacme login', '# with npm\nV npx acme@latest init\r\nacme login'],
      [`(curl -fsSL ${SCRIPT} | sh) || exit 1`, `(curl -fsSL ${SCRIPT} | V sh) || exit 1`],
      ['npm i -g acme', 'V npm i -g acme'],
      ['npm --global install acme', 'V npm --global install acme'],
      ['yarn global add acme', 'V yarn global add acme'],
      ['pnpm dlx acme', 'V pnpm dlx acme'],
      ['bunx acme', 'V bunx acme'],
      ['pipx run acme', 'V pipx run acme'],
      ['uvx acme', 'V uvx acme'],
      ['uv tool run acme', 'V uv tool run acme'],
      ['deno run -A jsr:@acme/acme', 'V deno run -A jsr:@acme/acme'],
    ]
    for (const [plain, filled] of CASES)
      it(`get a variable: ${JSON.stringify(plain)}`, () => expect(fill(plain)).to.equal(filled))

    it('get it under the name that the service is branded with', () => {
      expect(fillCommand(`curl ${SCRIPT} | sh`, TOKEN, { variable: 'ACME_HANDOFF' })).to.equal(
        `curl ${SCRIPT} | env ACME_HANDOFF=${TOKEN} sh`,
      )
    })

    it('get nothing on Windows, whose own shells would not understand it, unless a shell is named', () => {
      expect(fill('npm install -g acme', true)).to.equal(undefined)
      expect(fill(`curl ${SCRIPT} | sh`, true)).to.equal(`curl ${SCRIPT} | V sh`)
    })
  })

  describe('a command that is not marked', () => {
    const isOwnScript = (url: string) => new URL(url).hostname.endsWith('acme.dev')
    const guess = (text: string) =>
      fillCommand(text, TOKEN, { isOwnScript })?.replaceAll(`env WHENCE_HANDOFF=${TOKEN}`, 'V')

    it("gets a token if it runs the vendor's own script", () => {
      expect(guess(`curl -fsSL ${SCRIPT} | sh`)).to.equal(`curl -fsSL ${SCRIPT} | V sh`)
      expect(guess(`bash -c "$(curl -fsSL ${SCRIPT})"`)).to.equal(`V bash -c "$(curl -fsSL ${SCRIPT})"`)
      expect(guess(`cd /tmp && wget -qO- '${SCRIPT}?a=1&b' | bash`)).to.match(/ \| V bash$/)
    })

    it('gets none if it runs a script of others, a package, or one that it does not name', () => {
      for (const text of [
        "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
        '/bin/bash -c "$(curl -fsSL https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh)"',
        'npm install -g acme',
        './install.sh',
        'cat install.sh | sh',
      ])
        expect(guess(text), text).to.equal(undefined)
    })

    it("skips what is not the vendor's and fills what is", () => {
      expect(guess(`curl -sSf https://sh.rustup.rs | sh\ncurl ${SCRIPT} | sh`)).to.equal(
        `curl -sSf https://sh.rustup.rs | sh\ncurl ${SCRIPT} | V sh`,
      )
    })
  })

  describe('leaves alone', () => {
    const CASES = [
      '',
      // Package managers that run nothing of the vendor's, or nothing yet.
      'pip install acme',
      'pip3 install acme',
      'pipx install acme',
      'uv tool install acme',
      'uv pip install acme',
      'cargo install acme',
      'gem install acme',
      'pnpm add -g acme',
      'bun add -g acme',
      'deno install -g jsr:@acme/acme',
      'npm --version',
      'npm view acme',
      'yarn',
      'brew install acme',
      'winget install acme',
      'irm https://acme.dev/install.ps1 | iex',
      'powershell -c "irm https://acme.dev/install.ps1 | iex"',
      'docker run acme/acme',
      `curl -O ${SCRIPT}`,
      `curl ${SCRIPT} | tee install.sh`,
      'echo "curl x | sh"',
      "echo 'npm install' ",
      `eval "$(curl -fsSL ${SCRIPT})"`,
      `curl ${SCRIPT} | sh <<EOF\nyes\nEOF`,
      'sh',
      `curl ${SCRIPT} | WHENCE_HANDOFF=mine sh`,
      `curl ${SCRIPT} | sh -s -- --handoff ${TOKEN}`,
      `curl "${SCRIPT} | sh`,
      `curl $(cat url | sh`,
      'if true',
      'sh report.sh install_completed \\',
      'sh report.sh install_completed\\',
    ]
    for (const text of CASES) it(JSON.stringify(text), () => expect(fill(text)).to.equal(undefined))

    it('a command that would be longer than 65,536 characters', () => {
      const tail = ' | sh'
      const room = LIMITS.handoffCommandChars - `env WHENCE_HANDOFF=${TOKEN} `.length - tail.length
      const fitting = `curl ${'x'.repeat(room - 5)}${tail}`
      expect(fillCommand(fitting, TOKEN)).to.have.length(LIMITS.handoffCommandChars)
      expect(fillCommand(`${fitting} `, TOKEN)).to.equal(undefined)
      expect(fillCommand('{{handoff}}'.repeat(1_400), TOKEN)).to.equal(undefined)
    })
  })

  describe('a placeholder', () => {
    it('is replaced wherever the website has put it', () => {
      expect(fill('winget install acme --custom "{{handoff}}"')).to.equal('winget install acme --custom "T"')
      expect(fill('a {{handoff}} b {{handoff}}')).to.equal('a T b T')
    })

    it('vanishes with its option or variable if there is no token', () => {
      const CASES: [string, string][] = [
        ['acme init --handoff {{handoff}} --yes', 'acme init --yes'],
        ['acme init --handoff={{handoff}}', 'acme init'],
        ['acme init --handoff="{{handoff}}"', 'acme init'],
        ['curl x | WHENCE_HANDOFF={{handoff}} sh', 'curl x | sh'],
        ['WHENCE_HANDOFF={{handoff}} npm i acme', 'npm i acme'],
        ['acme init {{handoff}}', 'acme init'],
        ['no mark | sh', 'no mark | sh'],
      ]
      for (const [marked, plain] of CASES) expect(withoutPlaceholder(marked)).to.equal(plain)
    })
  })

  describe('what it inserts', () => {
    it('is the only difference to the plain command, for any text', () => {
      const pieces = fc.constantFrom(
        'curl x',
        ' | ',
        'sh',
        ' -s --',
        ' a',
        "'",
        '"',
        '$(',
        ')',
        '`',
        '\\',
        '\n',
        ';',
        '&&',
        ' <',
        '>',
        '#',
        'sudo ',
        'npm i',
        'é',
        '{',
        '${',
        '\r',
      )
      fc.assert(
        fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
          const text = parts.join('')
          const filled = fillCommand(text, TOKEN)
          if (filled === undefined) return
          expect(filled.replace(/(?: --handoff |env WHENCE_HANDOFF=)wht_[\w-]{43} ?/, '')).to.be.oneOf([
            text,
            text.replace(/ $/, ''),
          ])
        }),
        { numRuns: 2_000 },
      )
    })

    it('ends for any text at all', () => {
      fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readCommands(text)))
      expect(readCommands('$('.repeat(5_000))).to.equal(undefined)
    })
  })

  describe('run by real shells', () => {
    let bin: string
    before(() => {
      bin = mkdtempSync(path.join(os.tmpdir(), 'whence-fill-'))
      // The script that every address "serves" says what it was given; sudo forgets the environment, as the real one does.
      const script = 'printf "%s|%s" "${WHENCE_HANDOFF-none}" "$*"'
      stub('curl', `cat <<'EOF'\n${script}\nEOF`)
      stub('sudo', 'while [ "${1#-}" != "$1" ]; do shift; done\nexec env -i PATH="$PATH" "$@"')
      stub('npm', script)
      writeFileSync(path.join(bin, 'install.sh'), `${script}\n`)
    })
    after(() => rmSync(bin, { recursive: true, force: true }))

    function stub(name: string, body: string): void {
      writeFileSync(path.join(bin, name), `#!/bin/sh\n${body}\n`)
      chmodSync(path.join(bin, name), 0o755)
    }

    const run = (shell: string, command: string) =>
      execFileSync(shell, ['-c', command], {
        cwd: bin,
        encoding: 'utf8',
        env: { PATH: `${bin}:/usr/bin:/bin`, HOME: bin },
        stdio: ['ignore', 'pipe', 'pipe'],
      })

    const COMMANDS: [string, string, string?][] = [
      [
        `curl ${HOOK} | sh -s -- install_completed`,
        'none|install_completed',
        `none|install_completed --handoff ${TOKEN}`,
      ],
      [`curl ${SCRIPT} | sh`, 'none|'],
      [`curl ${SCRIPT} | sh -s -- --yes "two words"`, 'none|--yes two words'],
      [`curl ${SCRIPT} | sudo -E bash -s -- --yes`, 'none|--yes'],
      [`sh -c "$(curl ${SCRIPT})" acme --yes`, 'none|--yes'],
      [`curl -O ${SCRIPT} >/dev/null && sh install.sh a`, 'none|a'],
      ['npm install --global acme', 'none|install --global acme'],
      ['cd . && ./install.sh && :', ''],
    ]
    for (const shell of ['dash', 'bash']) {
      it(`the filled command does what the plain one does, and carries the token, in ${shell}`, () => {
        chmodSync(path.join(bin, 'install.sh'), 0o755)
        for (const [command, plain, filled] of COMMANDS) {
          const before = run(shell, command)
          if (plain) expect(before, command).to.equal(plain)
          expect(run(shell, fillCommand(command, TOKEN) ?? ''), command).to.equal(
            filled ?? before.replace('none', TOKEN),
          )
        }
      })
    }

    it('carries the token in tcsh, which knows no variable before a command', () => {
      const filled = fillCommand(`curl ${SCRIPT} | sh -s -- --yes`, TOKEN) ?? ''
      expect(run('tcsh', filled)).to.equal(`${TOKEN}|--yes`)
    })

    it('process substitution keeps working in bash', () => {
      expect(run('bash', fillCommand(`bash <(curl ${SCRIPT}) --yes`, TOKEN) ?? '')).to.equal(`${TOKEN}|--yes`)
    })
  })
})
