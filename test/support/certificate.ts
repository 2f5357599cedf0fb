/** Makes a certificate that signs itself, for TLS servers of tests: names and IPv4 addresses, valid for a day around now. */

import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

export interface TestCertificate {
  readonly certPem: string
  readonly keyPem: string
}

/** X.509 version 3 as RFC 5280 lays it out, with ECDSA on P-256. */
export function testCertificate(names: readonly string[], ipv4: readonly string[] = []): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = toBeSigned(publicKey, names, ipv4)
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature))
  return {
    certPem: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function toBeSigned(publicKey: KeyObject, names: readonly string[], ipv4: readonly string[]): Buffer {
  const dayMs = 86_400_000
  const validity = sequence(utcTime(Date.now() - dayMs), utcTime(Date.now() + dayMs))
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]))
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('whence test')))))
  const alternatives = sequence(
    ...names.map((name) => der(0x82, Buffer.from(name))),
    ...ipv4.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  )
  const extension = sequence(oid('551d11'), der(0x04, alternatives))
  const version = der(0xa0, der(0x02, Buffer.from([2])))
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' })
  const extensions = der(0xa3, sequence(extension))
  return sequence(version, serial, ECDSA_SHA256, subject, validity, subject, keyInfo, extensions)
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
