/** Situations the hook may meet, and what it must report in each; every shell has to report the same bytes. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HookScriptValues } from '../../../domain/collection/hook-script.ts'
import { CHROME, FIREFOX, marker, receipt, type Home } from './home.ts'
import { PATIENT, REAL_PATH } from './shells.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Fixture {
  readonly name: string
  /** Fills the home folder; what it returns is added to the environment (`undefined` removes a variable). */
  readonly arrange?: (home: Home) => Environment | void
  readonly env?: Environment
  readonly args?: readonly string[]
  readonly values?: Partial<HookScriptValues>
  /** Numbers of the expected receipts, in order; `null` if no request may be sent. */
  readonly receipts: readonly number[] | null
  /** Members that the body must have with these values; `undefined` for those it must not have. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly userAgent?: string
  /** Shells that cannot be in this situation: zsh gives itself a HOME. */
  readonly notIn?: readonly string[]
  /** What standard error must say; nothing if left out. */
  readonly says?: RegExp
}

const TOKEN = 'wht_0123456789012345678901234567890123456789abc'
const DEFAULT = `${CHROME}/Default`

/** One marker in each place in which a browser may keep its profiles on Linux. */
const LINUX_ROOTS: readonly (readonly [string, string])[] = [
  ['chrome', '.config/google-chrome'],
  ['chrome', '.config/google-chrome-beta'],
  ['chrome', '.config/google-chrome-unstable'],
  ['chrome', '.var/app/com.google.Chrome/config/google-chrome'],
  ['chromium', '.config/chromium'],
  ['chromium', 'snap/chromium/common/chromium'],
  ['chromium', '.var/app/org.chromium.Chromium/config/chromium'],
  ['edge', '.config/microsoft-edge'],
  ['edge', '.config/microsoft-edge-beta'],
  ['edge', '.config/microsoft-edge-dev'],
  ['edge', '.var/app/com.microsoft.Edge/config/microsoft-edge'],
  ['brave', '.config/BraveSoftware/Brave-Browser'],
  ['brave', '.config/BraveSoftware/Brave-Browser-Beta'],
  ['brave', '.config/BraveSoftware/Brave-Browser-Nightly'],
  ['brave', 'snap/brave/current/.config/BraveSoftware/Brave-Browser'],
  ['brave', '.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser'],
  ['opera', '.config/opera'],
  ['opera', 'snap/opera/current/.config/opera'],
  ['opera', '.var/app/com.opera.Opera/config/opera'],
  ['vivaldi', '.config/vivaldi'],
  ['vivaldi', '.var/app/com.vivaldi.Vivaldi/config/vivaldi'],
  ['firefox', '.mozilla/firefox'],
  ['firefox', '.config/mozilla/firefox'],
  ['firefox', 'snap/firefox/common/.mozilla/firefox'],
  ['firefox', '.var/app/org.mozilla.firefox/.mozilla/firefox'],
  ['firefox', '.var/app/org.mozilla.firefox/config/mozilla/firefox'],
  ['librewolf', '.librewolf'],
  ['librewolf', '.var/app/io.gitlab.librewolf-community/.librewolf'],
  ['zen', '.zen'],
  ['zen', '.var/app/app.zen_browser.zen/.zen'],
  ['waterfox', '.waterfox'],
  ['waterfox', '.var/app/net.waterfox.waterfox/.waterfox'],
  ['chrome', '.config/google-chrome-canary'],
  ['chromium', '.var/app/io.github.ungoogled_software.ungoogled_chromium/config/chromium'],
  ['firefox', 'snap/firefox/common/.config/mozilla/firefox'],
  ['floorp', '.floorp'],
  ['floorp', '.var/app/one.ablaze.floorp/.floorp'],
  // Firefox's kind since version 147, with and without the vendor's name.
  ...(
    [
      ['librewolf', 'io.gitlab.librewolf-community'],
      ['zen', 'app.zen_browser.zen'],
      ['waterfox', 'net.waterfox.waterfox'],
      ['floorp', 'one.ablaze.floorp'],
    ] as const
  ).flatMap(([browser, flatpak]) =>
    ['.config', `.var/app/${flatpak}/config`].flatMap((folder) => [
      [browser, `${folder}/${browser}`] as const,
      [browser, `${folder}/${browser}/${browser}`] as const,
    ]),
  ),
]

const SUPPORT = 'Library/Application Support'
const MACOS_CHROMIUM_ROOTS = [
  'Google/Chrome',
  'Google/Chrome Beta',
  'Google/Chrome Dev',
  'Google/Chrome Canary',
  'Chromium',
  'Microsoft Edge',
  'Microsoft Edge Beta',
  'Microsoft Edge Dev',
  'Microsoft Edge Canary',
  'BraveSoftware/Brave-Browser',
  'BraveSoftware/Brave-Browser-Beta',
  'BraveSoftware/Brave-Browser-Nightly',
  'Arc/User Data',
  'com.operasoftware.Opera',
  'com.operasoftware.OperaGX',
  'Vivaldi',
]
const MACOS_FIREFOX_ROOTS = [
  'Firefox/Profiles',
  'librewolf/Profiles',
  'zen/Profiles',
  'Waterfox/Profiles',
  'Floorp/Profiles',
]

const isFirefoxKind = (browser: string): boolean =>
  ['firefox', 'librewolf', 'zen', 'waterfox', 'floorp'].includes(browser)

const markRoot = (home: Home, [browser, root]: readonly [string, string], index: number): void => {
  if (isFirefoxKind(browser)) home.firefox(`${root}/ab12.default-release`, 'https+++acme.dev', marker(index))
  else home.chromium(`${root}/Profile 2`, index, marker(index))
}

const ROOTS: readonly Fixture[] = [
  {
    name: 'all profile folders of Linux, of packages, snap and flatpak',
    arrange: (home) => LINUX_ROOTS.forEach((root, index) => markRoot(home, root, index)),
    receipts: LINUX_ROOTS.map((_, index) => index),
    body: {
      browsers: [
        'chrome',
        'chromium',
        'edge',
        'brave',
        'opera',
        'vivaldi',
        'firefox',
        'librewolf',
        'zen',
        'waterfox',
        'floorp',
      ],
    },
  },
  // One by one if a browser's folder is shared with nothing else, so that a mix-up of names would show.
  ...LINUX_ROOTS.filter(([, root]) =>
    /microsoft-edge$|Brave-Browser$|^\.zen|^\.config\/(zen|librewolf)|^snap\/firefox|vivaldi/.test(root),
  ).map(([browser, root]): Fixture => ({
    name: `only ${browser} in ~/${root}`,
    arrange: (home) => markRoot(home, [browser, root], 1),
    receipts: [1],
    body: { browsers: [browser] },
  })),
]

/** Makes `uname -s` say Darwin, which is all that the hook goes by. */
function pretendMacos(home: Home): Environment {
  const folder = join(home.path, '..', 'macos-tools')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'uname'), '#!/bin/sh\necho Darwin arm64\n', { mode: 0o755 })
  return { PATH: `${folder}:${PATIENT}:${REAL_PATH}` }
}

const PLACES: readonly Fixture[] = [
  { name: 'an empty home folder', receipts: [], body: { browsers: undefined, install_path: 'cli', platform: 'linux' } },
  {
    name: 'browsers without a marker',
    arrange: (home) => {
      home.file(`${DEFAULT}/Preferences`, '{}')
      home.file(`${FIREFOX}/profiles.ini`, '')
    },
    receipts: [],
    body: { browsers: ['chrome', 'firefox'] },
  },
  {
    name: 'all profile folders of macOS, and none of Safari',
    arrange: (home) => {
      MACOS_CHROMIUM_ROOTS.forEach((root, index) => home.chromium(`${SUPPORT}/${root}/Default`, 1, marker(index)))
      MACOS_FIREFOX_ROOTS.forEach((root, index) =>
        home.firefox(`${SUPPORT}/${root}/x.default`, 'https+++acme.dev', marker(100 + index)),
      )
      home.chromium('Library/Containers/com.apple.Safari/Data/Library', 1, marker(900))
      home.chromium('Library/Group Containers/any/Default', 1, marker(901))
      home.chromium(`${DEFAULT}`, 1, marker(902))
      return pretendMacos(home)
    },
    receipts: [...MACOS_CHROMIUM_ROOTS.map((_, index) => index), ...MACOS_FIREFOX_ROOTS.map((_, index) => 100 + index)],
    body: { platform: 'darwin', arch: 'arm64' },
  },
  {
    name: 'forty profiles',
    arrange: (home) => {
      for (let n = 1; n <= 40; n++) home.chromium(`${CHROME}/Profile ${n}`, n, marker(n))
    },
    receipts: Array.from({ length: 40 }, (_, index) => index + 1),
  },
  {
    name: 'a profile in the root itself, as in Opera',
    arrange: (home) => void home.chromium('.config/opera', 3, marker(1)),
    receipts: [1],
  },
  {
    name: 'profile names with spaces, quotes, dollars, dashes and bytes that are no UTF-8',
    arrange: (home) => {
      const names = ['a  b', `it's "x"`, '$(touch x)`id`', '-rf', '*?[a]', '\\n', 'é😀', 'a;b&c|d']
      names.forEach((name, index) => home.chromium(`${CHROME}/${name}`, 1, marker(index)))
    },
    receipts: [0, 1, 2, 3, 4, 5, 6, 7],
  },
  {
    name: 'a profile name with a line break is passed over',
    arrange: (home) => {
      home.chromium(`${CHROME}/a\nb`, 1, marker(1))
      home.chromium(DEFAULT, 1, marker(2))
    },
    receipts: [2],
  },
  {
    name: 'a home folder with spaces and pattern characters',
    arrange: (home) => {
      const path = join(home.path, 'my [a-z]* home ?')
      home.chromium('my [a-z]* home ?/.config/chromium/Default', 1, marker(1))
      home.firefox('my [a-z]* home ?/.mozilla/firefox/x', 'https+++acme.dev', marker(2))
      return { HOME: path }
    },
    receipts: [1, 2],
  },
  {
    name: 'a home folder that is a symbolic link',
    arrange: (home) => {
      home.chromium(`real/${DEFAULT}`, 1, marker(1))
      home.link('real', 'link')
      return { HOME: join(home.path, 'link') }
    },
    receipts: [1],
  },
  {
    name: 'symbolic links of roots, profiles, folders and files are not followed',
    arrange: (home) => {
      home.chromium('elsewhere/Default', 1, marker(1))
      const file = home.chromium('elsewhere/Other', 2, marker(2))
      home.link('../elsewhere', '.config/chromium')
      home.link('../../elsewhere/Default', `${CHROME}/Linked`)
      home.link('../../../elsewhere/Default/File System', `${DEFAULT}/File System`)
      home.file(`${CHROME}/Profile 1/File System/000/t/00/.keep`, '')
      symlinkSync(file, join(home.path, CHROME, 'Profile 1/File System/000/t/00/00000009'))
      home.firefox('elsewhere-firefox', 'https+++acme.dev', marker(3))
      home.link('../../elsewhere-firefox', `${FIREFOX}/x.default`)
      home.chromium(`${CHROME}/Profile 2`, 4, marker(4))
    },
    receipts: [4],
  },
  {
    name: 'CHROME_USER_DATA_DIR',
    arrange: (home) => {
      home.chromium('my chrome/Default', 1, marker(1))
      return { CHROME_USER_DATA_DIR: join(home.path, 'my chrome') }
    },
    receipts: [1],
    body: { browsers: ['chrome'] },
  },
  {
    name: 'CHROME_CONFIG_HOME',
    arrange: (home) => {
      home.chromium('conf/google-chrome/Default', 1, marker(1))
      return { CHROME_CONFIG_HOME: join(home.path, 'conf') }
    },
    receipts: [1],
  },
  {
    name: 'XDG_CONFIG_HOME in place of ~/.config',
    arrange: (home) => {
      home.chromium('xdg/chromium/Default', 1, marker(1))
      home.firefox('xdg/mozilla/firefox/x', 'https+++acme.dev', marker(2))
      home.chromium('.config/chromium/Default', 1, marker(3))
      return { XDG_CONFIG_HOME: join(home.path, 'xdg') }
    },
    receipts: [1, 2],
  },
  {
    name: 'folders from the environment that are no absolute paths',
    arrange: (home) => void home.chromium(DEFAULT, 1, marker(1)),
    env: { XDG_CONFIG_HOME: 'xdg', CHROME_USER_DATA_DIR: '-delete', CHROME_CONFIG_HOME: '../x', XDG_STATE_HOME: '.' },
    receipts: [1],
  },
  {
    name: 'the default browser is looked at first',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(2))
      home.firefox(`${FIREFOX}/x`, 'https+++acme.dev', marker(1))
    },
    env: { BROWSER: '/usr/bin/firefox-esr' },
    receipts: [1, 2],
    body: { browsers: ['firefox', 'chrome'], default_browser: 'firefox' },
  },
  {
    name: 'the default browser is one of the younger ones',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(2))
      home.firefox('.config/zen/x', 'https+++acme.dev', marker(1))
    },
    env: { BROWSER: '/opt/zen-browser' },
    receipts: [1, 2],
    body: { browsers: ['zen', 'chrome'], default_browser: 'zen' },
  },
]

const ORIGINS: readonly Fixture[] = [
  {
    name: 'Firefox folders of this website, with a port and of container tabs, and no others',
    arrange: (home) => {
      const profile = `${FIREFOX}/x.default`
      home.firefox(profile, 'https+++acme.dev', marker(1))
      home.firefox(profile, 'http+++localhost+8901', marker(2))
      home.firefox(profile, 'https+++acme.dev^userContextId=3', marker(3))
      home.firefox(profile, 'https+++acme.dev^partitionKey=%28https%2Cother.dev%29', marker(4))
      home.firefox(profile, 'https+++evil.dev', marker(5))
      home.firefox(profile, 'https+++acme.dev+8443', marker(6))
      home.firefox(profile, 'http+++acme.dev', marker(7))
    },
    receipts: [1, 2, 3],
  },
  {
    name: 'Firefox folders of container tabs of any number, alone and with other attributes',
    arrange: (home) => {
      const attributes = [
        'userContextId=10',
        'userContextId=137',
        'userContextId=4294967295',
        'privateBrowsingId=1',
        'firstPartyDomain=acme.dev',
        'userContextId=10&firstPartyDomain=acme.dev',
        'inBrowser=1&userContextId=2',
        'userContextId=137&partitionKey=%28https%2Cacme.dev%29',
        'userContextId=1&privateBrowsingId=2',
        'userContextId=11&geckoViewUserContextId=66756E',
      ]
      attributes.forEach((text, index) => home.firefox(`${FIREFOX}/x`, `https+++acme.dev^${text}`, marker(1 + index)))
      // Of a frame in another website's page, of other websites, and of a name that only begins alike.
      const foreign = ['acme.dev^partitionKey=%28https%2Cother.dev%29', 'acme.devil^userContextId=10', 'acmeXdev', '*']
      foreign.forEach((text, index) => home.firefox(`${FIREFOX}/x`, `https+++${text}`, marker(50 + index)))
      home.firefox(`${FIREFOX}/x/storage/default/https+++other.dev`, 'https+++acme.dev', marker(60))
    },
    receipts: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  },
  {
    name: 'Firefox folders of container tabs of an address without a name',
    arrange: (home) => {
      const own = (number: number): string => marker(number, number * 1000, { origin: 'http://[::1]:3000' })
      home.firefox(`${FIREFOX}/x`, 'http+++[++1]+3000^userContextId=12', own(1))
      home.firefox(`${FIREFOX}/x`, 'http++++^userContextId=12', own(2))
    },
    values: { origins: ['http://[::1]:3000'] },
    receipts: [1],
  },
  {
    name: 'more container tabs than a command line should hold',
    arrange: (home) => {
      for (let n = 0; n < 300; n++)
        for (const profile of ['a', 'b', 'c', 'd', 'e', 'f'])
          home.file(`${FIREFOX}/${profile}/storage/default/https+++acme.dev^userContextId=${n}/.keep`, '')
      home.chromium(DEFAULT, 1, marker(2))
    },
    receipts: [2],
  },
  {
    name: 'Firefox folders of an address without a name',
    arrange: (home) =>
      void home.firefox(`${FIREFOX}/x`, 'http+++[++1]+3000', marker(1, 1000, { origin: 'http://[::1]:3000' })),
    values: { origins: ['http://[::1]:3000'] },
    receipts: [1],
  },
  {
    name: 'a website without origins',
    arrange: (home) => {
      home.firefox(`${FIREFOX}/x`, 'https+++acme.dev', marker(1))
      home.chromium(DEFAULT, 1, marker(2))
    },
    values: { origins: [] },
    receipts: [2],
  },
  {
    name: 'fifty origins and thirty profiles',
    arrange: (home) => {
      for (let n = 0; n < 30; n++) {
        const own = marker(n, n * 1000, { origin: `https://s${n}.acme.dev` })
        home.firefox(`${FIREFOX}/p${n}`, `https+++s${n}.acme.dev`, own)
      }
    },
    values: { origins: Array.from({ length: 50 }, (_, index) => `https://s${index}.acme.dev`) },
    receipts: Array.from({ length: 30 }, (_, index) => index),
  },
]

const MARKERS: readonly Fixture[] = [
  {
    name: 'the newest first, whatever the order on disk',
    arrange: (home) => [5, 1, 4, 2, 3].forEach((n, index) => home.chromium(DEFAULT, index, marker(n))),
    receipts: [1, 2, 3, 4, 5],
  },
  {
    name: 'more than 64 markers',
    arrange: (home) => {
      for (let n = 1; n <= 400; n++) home.chromium(`${CHROME}/Profile ${n % 3}`, n, marker(n))
    },
    receipts: Array.from({ length: 64 }, (_, index) => index + 1),
  },
  {
    name: 'the same receipt several times',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(1))
      home.chromium(DEFAULT, 2, marker(2))
      home.chromium(`${CHROME}/Profile 1`, 1, marker(1))
      home.chromium(`${CHROME}/Profile 2`, 1, marker(1, 90_000))
    },
    receipts: [1, 2],
  },
  {
    name: 'expired markers',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(1, 1000, { expiresAt: Date.now() - 2000 }))
      home.chromium(DEFAULT, 2, marker(2, 31 * 86_400_000))
      home.chromium(DEFAULT, 3, marker(3, 1000, { expiresAt: Date.now() + 60_000 }))
    },
    receipts: [3],
  },
  {
    name: 'markers of a future or a lifetime that no visit has',
    arrange: (home) => {
      const now = Date.now()
      const hour = 3_600_000
      const planted = [2 * hour, 25 * hour, 40 * 24 * hour, 9_999_999_999_999 - now]
      for (let n = 0; n < 100; n++)
        home.chromium(DEFAULT, 100 + n, marker(100 + n, 0, { createdAt: now + (planted[n % 4] ?? 0) }))
      const lasting = [31 * 24 * hour, 9e12, '1'.repeat(300)]
      lasting.forEach((expiresAt, index) => {
        const text = marker(300 + index, 1000, { expiresAt: 7 })
        const lasts = text.replace(
          '"expires_at":7',
          `"expires_at":${typeof expiresAt === 'string' ? expiresAt : now + expiresAt}`,
        )
        home.chromium(DEFAULT, 300 + index, lasts.trimEnd().padEnd(1021))
      })
      home.chromium(DEFAULT, 400, marker(400, 32 * 24 * hour, { expiresAt: now + hour }))
      home.chromium(DEFAULT, 1, marker(1, 0, { createdAt: now + hour / 2 }))
      home.chromium(DEFAULT, 2, marker(2))
    },
    receipts: [1, 2],
  },
  {
    name: 'files that nobody wrote to for more than a month',
    arrange: (home) => {
      home.age(home.chromium(DEFAULT, 1, marker(1)), 32)
      home.age(home.chromium(DEFAULT, 2, marker(2)), 29)
    },
    receipts: [2],
  },
  {
    name: 'markers of other websites',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(1, 1, { project: 'other' }))
      home.chromium(DEFAULT, 2, marker(2, 2, { project: 'acme-dev-2' }))
      home.chromium(DEFAULT, 3, marker(3, 3, { project: 'ACME-DEV' }))
      home.chromium(DEFAULT, 4, marker(4))
    },
    receipts: [4],
  },
  {
    name: 'markers of origins that the website does not have',
    arrange: (home) => {
      const origins = [
        'https://evil.example',
        'http://acme.dev',
        'https://acme.dev:8443',
        'https://ACME.dev',
        'https://acme.de',
        'https://acme.dev/',
        'https://acme.dev http://localhost:8901',
        ' ',
        '',
        'acme.dev',
        '.',
        '\\',
        '"',
      ]
      origins.forEach((origin, index) => home.chromium(DEFAULT, 10 + index, marker(10 + index, 1, { origin })))
      const none = marker(2).replace('"origin"', '"source"').slice(0, 1021)
      home.chromium(DEFAULT, 2, none)
      home.chromium(DEFAULT, 3, marker(3))
      home.chromium(DEFAULT, 4, marker(4, 4000, { origin: 'http://localhost:8901' }))
    },
    args: ['install_completed', '--explain'],
    says: /markers: 2 of this website that hold, .* 14 of origins that are not its own/,
    receipts: [3, 4],
  },
  {
    name: 'a website that names no origins takes markers of any',
    arrange: (home) => void home.chromium(DEFAULT, 1, marker(1, 1000, { origin: 'https://evil.example' })),
    values: { origins: [] },
    receipts: [1],
  },
  {
    name: 'markers that are not padded, beside padded ones',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(1, 1000, { size: 0 }))
      home.chromium(DEFAULT, 2, marker(2))
      home.firefox(`${FIREFOX}/x`, 'https+++acme.dev', marker(3, 3000, { size: 900 }))
    },
    receipts: [1, 2, 3],
  },
  {
    name: 'files of other sizes are not markers',
    arrange: (home) => {
      home.chromium(DEFAULT, 1, marker(1, 1, { size: 1022 }))
      home.chromium(DEFAULT, 2, marker(2, 2, { size: 40_000 }))
      home.chromium(DEFAULT, 3, '')
    },
    receipts: [],
  },
  {
    name: 'members in another order, with spaces and with members that are not known',
    arrange: (home) => {
      const now = Date.now()
      const rest = `"expires_at": ${now + 9e6}, "receipt": "${receipt(1)}" ,"previous_receipt":"${receipt(9)}","created_at":${now}`
      home.chromium(
        DEFAULT,
        1,
        `{"format":"opfs-install-attribution",${rest},"new":{"a":[1]},"project":"acme-dev","origin" : "https://acme.dev","version":1}`.padEnd(
          1021,
        ),
      )
    },
    receipts: [1],
  },
  {
    name: 'markers with unusable members',
    arrange: (home) => {
      const broken = [
        marker(1, 1, { receipt: 'a'.repeat(42) }),
        marker(1, 1, { receipt: 'a'.repeat(44) }),
        marker(1, 1, { receipt: `${'a'.repeat(42)}!` }),
        marker(1, 1, { receipt: `${'a'.repeat(42)}"` }),
        marker(1, 1, { version: 2 }),
        marker(1, 1, { createdAt: 12, expiresAt: 9e12 }),
        marker(1).replace('"expires_at"', '"expires"').padEnd(1021),
        marker(1).replace('"receipt"', '"receipts"').slice(0, 1021),
        ` ${marker(1).slice(0, 1020)}`,
        `[${marker(1).slice(0, 1020)}`,
        marker(1).slice(0, 100).padEnd(1021),
        marker(1)
          .replace(/"created_at":\d+/, '"created_at":"now"')
          .slice(0, 1021)
          .padEnd(1021),
      ]
      broken.forEach((text, index) => home.chromium(DEFAULT, index, text))
      home.chromium(DEFAULT, 77, marker(2))
    },
    receipts: [2],
  },
  {
    name: 'markers outside the place where websites may write',
    arrange: (home) => {
      home.file(`${DEFAULT}/File System/000/p/00/00000001`, marker(1))
      home.file(`${DEFAULT}/File System/000/t/Paths/00000001`, marker(2))
      home.file(`${DEFAULT}/File System/Origins/t/00/00000001`, marker(3))
      home.file(`${DEFAULT}/File System/00000001`, marker(4))
      home.file(`${DEFAULT}/WebStorage/1/FileSystem/t/00/00000001`, marker(5))
      home.file(`${DEFAULT}/00000001`, marker(6))
      home.file(`${CHROME}/a/b/File System/000/t/00/00000001`, marker(7))
      home.file(`${FIREFOX}/x/storage/default/https+++acme.dev/fs/metadata.sqlite`, marker(8))
      home.file(`${FIREFOX}/x/storage/default/https+++acme.dev/idb/AB/ABCDEF`, marker(9))
      home.file(`${FIREFOX}/x/storage/temporary/https+++acme.dev/fs/AB/ABCDEF`, marker(10))
      home.file('Downloads/File System/000/t/00/00000001', marker(11))
    },
    receipts: [],
  },
]

const withMarker = (home: Home): void => void home.chromium(DEFAULT, 1, marker(1))

const ARGUMENTS: readonly Fixture[] = [
  {
    name: 'install_started',
    args: ['install_started'],
    arrange: withMarker,
    receipts: [1],
    body: { event_type: 'install_started' },
  },
  { name: 'first_run', args: ['first_run'], arrange: withMarker, receipts: [1], body: { event_type: 'first_run' } },
  {
    name: 'a handoff token as an option: no scan',
    args: ['install_completed', '--handoff', TOKEN],
    arrange: withMarker,
    receipts: [],
    body: { handoff: TOKEN, browsers: undefined },
  },
  {
    name: 'a handoff token before the event type and with an equals sign',
    args: [`--handoff=${TOKEN}`, 'install_completed'],
    arrange: withMarker,
    receipts: [],
    body: { handoff: TOKEN },
  },
  {
    name: 'a handoff token in the environment',
    env: { WHENCE_HANDOFF: TOKEN },
    arrange: withMarker,
    receipts: [],
    body: { handoff: TOKEN },
  },
  {
    name: 'a placeholder in place of a token falls back to the scan',
    args: ['install_completed', '--handoff', '{token}'],
    arrange: withMarker,
    receipts: [1],
    body: { handoff: undefined },
  },
  {
    name: 'an empty token falls back to the scan',
    args: ['install_completed', '--handoff', ''],
    arrange: withMarker,
    receipts: [1],
    body: { handoff: undefined },
  },
  {
    name: 'no install path',
    values: { path: null },
    arrange: withMarker,
    receipts: [1],
    body: { install_path: undefined },
  },
  { name: 'a website that scans nothing', values: { scan: 'Disabled' }, arrange: withMarker, receipts: [] },
  { name: 'a notice without a terminal', values: { scan: 'Notice' }, arrange: withMarker, receipts: [1] },
  { name: 'a base address with a path', values: { baseUrl: '/below/it/' }, arrange: withMarker, receipts: [1] },
  {
    name: 'another brand',
    values: { brand: 'acme-counts' },
    arrange: withMarker,
    receipts: [1],
    userAgent: 'acme-counts-hook/1.0.0',
  },
  { name: 'an unknown event type', args: ['uninstalled'], receipts: null, says: /unknown event type/ },
  { name: 'no event type', args: [], receipts: null, says: /no event type/ },
  { name: 'two event types', args: ['first_run', 'install_started'], receipts: null, says: /more than one/ },
  { name: 'an unknown option', args: ['first_run', '--verbose'], receipts: null, says: /unknown option/ },
  { name: '--handoff without a token', args: ['first_run', '--handoff'], receipts: null, says: /needs a value/ },
  { name: '--help', args: ['--help'], receipts: null, says: /usage: .*--handoff TOKEN/s },
  {
    name: '--explain',
    args: ['install_completed', '--explain'],
    arrange: withMarker,
    receipts: [1],
    says: /looking at chrome in .*google-chrome\n.*opened 1 files .* 1 of this website that hold.*HTTP status 200/s,
  },
]

const PERMISSIONS: readonly Fixture[] = [
  ...['1', 'true', 'yes', 'False'].map((value): Fixture => ({
    name: `DO_NOT_TRACK=${value}`,
    env: { DO_NOT_TRACK: value },
    arrange: withMarker,
    receipts: null,
  })),
  ...['', '0', 'false'].map((value): Fixture => ({
    name: `DO_NOT_TRACK=${value}`,
    env: { DO_NOT_TRACK: value },
    arrange: withMarker,
    receipts: [1],
  })),
  { name: 'WHENCE_DISABLED=1', env: { WHENCE_DISABLED: '1' }, arrange: withMarker, receipts: null },
  {
    name: 'the switch of another brand',
    env: { ACME_COUNTS_DISABLED: '1' },
    values: { brand: 'acme-counts' },
    arrange: withMarker,
    receipts: null,
  },
  {
    name: 'the switch of every brand, for another brand',
    env: { WHENCE_DISABLED: '1' },
    values: { brand: 'acme-counts' },
    arrange: withMarker,
    receipts: null,
  },
  {
    name: 'CI=true: no scan',
    env: { CI: 'true' },
    arrange: withMarker,
    receipts: [],
    body: { browsers: undefined, ci: true },
  },
  { name: 'CI=false', env: { CI: 'false' }, arrange: withMarker, receipts: [1], body: { ci: undefined } },
  {
    name: '--no-scan',
    args: ['install_completed', '--no-scan'],
    arrange: withMarker,
    receipts: [],
    body: { ci: undefined },
  },
  { name: 'no HOME', env: { HOME: undefined }, receipts: [], notIn: ['zsh'] },
  { name: 'a HOME that is no path', env: { HOME: 'here' }, receipts: [] },
  { name: 'a HOME that does not exist', env: { HOME: '/nonexistent/home' }, receipts: [] },
  { name: 'a HOME of two lines', env: { HOME: '/tmp\n/etc' }, receipts: [] },
]

const SURROUNDINGS: readonly Fixture[] = [
  ...['GITHUB_ACTIONS', 'bamboo_planKey', 'RUN_ID', 'XCS'].map((name): Fixture => ({
    name: `CI by the variable ${name}`,
    env: { [name]: 'x' },
    arrange: withMarker,
    receipts: [],
    body: { ci: true },
  })),
  {
    name: 'a variable of CI where CI=false',
    env: { CI: 'false', GITHUB_ACTIONS: 'true' },
    arrange: withMarker,
    receipts: [1],
    body: { ci: undefined },
  },
  {
    name: 'CI that a coding agent has set',
    env: { CI: '1', CLAUDECODE: '1' },
    receipts: [],
    body: { ci: undefined },
    userAgent: 'whence-hook/1.0.0 agent/claude-code',
  },
  { name: 'a container', env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, receipts: [], body: { container: true } },
  {
    name: 'a container with a token',
    env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
    args: ['install_completed', '--handoff', TOKEN],
    receipts: [],
    body: { container: undefined },
  },
]

const STATED: readonly Fixture[] = [
  {
    name: 'version and place as options',
    args: ['install_completed', '--product-version', 'v1.4.0-rc.1+build', '--place=README (top), #2'],
    receipts: [],
    body: { product_version: 'v1.4.0-rc.1+build', place: 'README (top), #2' },
  },
  {
    name: 'version and place of the environment, which options precede',
    args: ['install_completed', '--place', 'docs'],
    env: { WHENCE_PRODUCT_VERSION: '1.4.0', WHENCE_PLACE: 'readme' },
    receipts: [],
    body: { product_version: '1.4.0', place: 'docs' },
  },
  {
    name: 'version and place under the name of another brand',
    env: { ACME_COUNTS_PRODUCT_VERSION: '1.4.0', ACME_COUNTS_PLACE: 'readme', WHENCE_PLACE: 'other' },
    values: { brand: 'acme-counts' },
    receipts: [],
    body: { product_version: '1.4.0', place: 'readme' },
  },
  {
    name: 'an empty version and place',
    args: ['install_completed', '--product-version=', '--place', ''],
    receipts: [],
    body: { product_version: undefined, place: undefined },
  },
  ...['"}{', 'a\\b', 'a\nb', '$(touch x)', '`touch x`', 'é', 'x'.repeat(65), '\u001b[31m', 'a*b', ';', "'"].map(
    (value): Fixture => ({
      name: `version and place that are not in order: ${JSON.stringify(value)}`,
      args: ['install_completed', '--product-version', value, `--place=${value}`],
      receipts: [],
      body: { product_version: undefined, place: undefined },
    }),
  ),
  {
    name: '--explain of a version and a place that are left out',
    args: ['install_completed', '--explain', '--no-scan', '--product-version', '"', '--place', '"'],
    receipts: [],
    says: /given version .* left out\n.*given place .* left out\n/,
  },
  {
    name: 'the mark of a test',
    args: ['install_completed', '--no-scan', '--test', 't1.abc123.p_0123456789abcdef.0123456789abcdef0123456789abcdef'],
    receipts: [],
    body: { test: 't1.abc123.p_0123456789abcdef.0123456789abcdef0123456789abcdef' },
  },
  {
    name: 'a mark that could not be one',
    args: ['install_completed', '--no-scan', '--test=a b"'],
    receipts: [],
    body: { test: undefined },
  },
  { name: '--place without a value', args: ['first_run', '--place'], receipts: null, says: /needs a value/ },
]

const FACTS: readonly Fixture[] = [
  {
    name: 'time zone and language of the environment',
    env: { TZ: 'America/Argentina/Buenos_Aires', LANG: 'pt_BR.UTF-8' },
    receipts: [],
    body: { timezone: 'America/Argentina/Buenos_Aires', language: 'pt-BR' },
  },
  {
    name: 'a time zone given as a file, and LC_ALL over LANG',
    env: { TZ: ':/usr/share/zoneinfo/Europe/Berlin', LANG: 'pt_BR.UTF-8', LC_ALL: 'de_DE@euro' },
    receipts: [],
    body: { timezone: 'Europe/Berlin', language: 'de-DE' },
  },
  {
    name: 'a time zone and a language that are none',
    env: { TZ: '"}{$(id)', LANG: 'a"\n`id`' },
    receipts: [],
    body: { timezone: undefined, language: undefined },
  },
  { name: 'the language C', env: { LANG: 'C.UTF-8' }, receipts: [], body: { language: undefined } },
  {
    name: 'a coding agent by its own variable',
    env: { CLAUDECODE: '1' },
    receipts: [],
    userAgent: 'whence-hook/1.0.0 agent/claude-code',
  },
  {
    name: 'a coding agent by AI_AGENT',
    env: { AI_AGENT: 'codex@2/x' },
    receipts: [],
    userAgent: 'whence-hook/1.0.0 agent/codex',
  },
  {
    name: 'an agent nobody knows',
    env: { AI_AGENT: 'x\r\nX: y' },
    receipts: [],
    userAgent: 'whence-hook/1.0.0 agent/other',
  },
  {
    name: 'a variable AGENT that is no coding agent',
    env: { AGENT: 'example-build-host' },
    receipts: [],
    userAgent: 'whence-hook/1.0.0',
  },
]

export const FIXTURES: readonly Fixture[] = [
  ...ROOTS,
  ...PLACES,
  ...ORIGINS,
  ...MARKERS,
  ...ARGUMENTS,
  ...PERMISSIONS,
  ...SURROUNDINGS,
  ...STATED,
  ...FACTS,
]
