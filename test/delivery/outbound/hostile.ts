/** Addresses that must never be called, as URLs in every spelling and as answers of name servers. */

/** Of private networks, this machine, cloud metadata, and what IANA lists as not globally reachable. */
export const HOSTILE_V4 = [
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '192.168.1.1',
  '172.16.0.1',
  '100.100.100.200',
  '0.0.0.0',
  '168.63.129.16',
] as const

const MORE_V4 = (
  '127.255.255.254 10.255.255.255 172.31.255.255 100.64.0.1 100.127.255.255 192.0.0.192 192.0.2.1 192.88.99.1 ' +
  '198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 0.1.2.3'
).split(' ')

const HOSTILE_V6 = (
  '::1 :: fe80::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 ' +
  '3fff::1 5f00::1 4000::1 64:ff9b::8.8.8.8 ::8.8.8.8 ::ffff:8.8.8.8'
).split(' ')

/** Each way in which people, browsers and C libraries write one IPv4 address, as the host of a URL. */
export function hostsOf(address: string): readonly string[] {
  const bytes = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (byte: number): string => byte.toString(16).padStart(2, '0')
  const high = hex(a) + hex(b)
  const low = hex(c) + hex(d)
  const flipped = bytes.map((byte) => hex(byte ^ 0xff))
  const wide = address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0X${whole.toString(16).padStart(12, '0').toUpperCase()}`,
    `0${whole.toString(8)}`,
    bytes.map((byte) => `0x${byte.toString(16)}`).join('.'),
    bytes.map((byte) => `0${byte.toString(8).padStart(3, '0')}`).join('.'),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0x${hex(a)}.${b}.${c * 256 + d}`,
    wide,
    wide.replaceAll('.', '。'),
    address.replace(/\d/g, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:4136:e378:8000:63bf:${flipped[0]}${flipped[1]}:${flipped[2]}${flipped[3]}]`,
    `[2606:4700::5efe:${high}:${low}]`,
    `[2606:4700::200:5efe:${high}:${low}]`,
  ]
}

/** `port` is the canary's: the ports are allowed, so that the address alone decides. */
export function hostileUrls(port: number): readonly string[] {
  const at = (host: string): string => `https://${host}:${port}/in`
  return [...HOSTILE_V4.flatMap(hostsOf).map(at), ...otherHosts().map(at), ...crookedUrls(port)]
}

function otherHosts(): readonly string[] {
  const v6 = HOSTILE_V6.map((address) => `[${address}]`)
  const zones = ['[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1%25lo]']
  const names = (
    'localhost LOCALHOST localhost. ⓛocalhost a.localhost localhost.localdomain printer.local db.internal ' +
    'metadata.google.internal kubernetes.default.svc kubernetes.default.svc.cluster.local metadata router.lan nas.home ' +
    'wiki.corp vault.private site.test a.invalid x.onion 1.0.0.127.in-addr.arpa intranet a..b.dev -a.dev. a.dev. *.dev'
  ).split(' ')
  return [...MORE_V4, ...v6, ...zones, ...names]
}

/** Texts that two parsers read as two addresses, other schemes, and what has no place in such an address. */
function crookedUrls(port: number): readonly string[] {
  const host = `127.0.0.1:${port}`
  return [
    `http://${host}/`,
    `HTTP://${host}/`,
    `ftp://${host}/`,
    `file:///etc/passwd`,
    `gopher://${host}/_x`,
    `data:text/plain,x`,
    `ws://${host}/`,
    `//${host}/`,
    `https:${host}`,
    `https:/${host}/`,
    `https:///${host}/`,
    `https:\\\\${host}\\`,
    `https://user@${host}/`,
    `https://user:pass@${host}/`,
    `https://hooks.acme.dev@${host}/`,
    `https://${host}@hooks.acme.dev/`,
    `https://${host}\\@hooks.acme.dev/`,
    `https://hooks.acme.dev\\@${host}/`,
    `https://hooks.acme.dev#@${host}/`,
    `https://hooks.acme.dev/#fragment`,
    ` https://${host}/`,
    `https://${host}/ `,
    `https://127.0.\t0.1:${port}/`,
    `https://127.0.0.1\n:${port}/`,
    `https://hooks.acme.dev /`,
    `https://hooks.acme.dev/\r\nHost: ${host}`,
    `https://hooks.acme.dev:22/`,
    `https://hooks.acme.dev:80/`,
    `https://hooks.acme.dev:6379/`,
    `https://hooks.acme.dev:0/`,
    `https://hooks.acme.dev:99999/`,
    `https://hooks.acme.dev:-1/`,
    `https://`,
    `https://:${port}/`,
    `https://[::1`,
    `https://[::ffff:127.0.0.1/`,
    `https://[v1.x]/`,
    `https://%00/`,
    `https://127.0.0.1%00.acme.dev:${port}/`,
    `https://${'a'.repeat(64)}.dev:${port}/`,
    `https://${'a.'.repeat(130)}dev:${port}/`,
    `https://acme.dev:${port}/${'a'.repeat(3_000)}`,
    '',
    'acme.dev',
    'javascript:alert(1)',
  ]
}

/** Answers for one name, each of which must keep it from being called: alone, first, last, and beside the other family. */
export function hostileAnswers(): readonly (readonly string[])[] {
  const mapped = HOSTILE_V4.flatMap((address) => [`::ffff:${address}`, `64:ff9b::${address}`, `::${address}`])
  const bad = [...HOSTILE_V4, ...MORE_V4, ...HOSTILE_V6, ...mapped, 'fe80::1%eth0', 'localhost', '', '1.2.3.4.5']
  return [
    ...bad.map((address) => [address]),
    ...bad.map((address, index) => (index % 2 === 0 ? ['93.184.215.14', address] : [address, '93.184.215.14'])),
    ...bad.map((address, index) => (index % 2 === 0 ? ['2606:4700::1111', address] : [address, '2606:4700::1111'])),
    Array.from({ length: 65 }, (_, index) => `93.184.215.${index}`),
  ]
}
